// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::skynet {

namespace {

long skynet(long first, long leaves) {
  if (leaves == 1) return first;
  const long end = first + leaves;
  leaves /= 10;
  long sum = 0;
  for (; first != end; first += leaves) sum += skynet(first, leaves);
  return sum;
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  result_ = skynet(0, leaves_);
}

}  // namespace bench::skynet

BENCH_WAY(serial)
