// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::fib {

namespace {

long fib(int n) {
  if (n < 2) return n;
  return fib(n - 1) + fib(n - 2);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  result_ = fib(n_);
}

}  // namespace bench::fib

BENCH_WAY(serial)
