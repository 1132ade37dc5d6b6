// The serial program, written by hand.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::flat {

template <>
void problem<ways::serial>::run() {
  // Not in the member: on many processors each iteration would wait for what the iteration before stored, longer than a
  // fork takes.
  const long count = count_;
  long leaves = 0;
  for (long i = 0; i < count; ++i) {
    const long first = leaf();
    leaves += first + leaf();
  }
  result_ = leaves;
}

}  // namespace bench::flat

BENCH_WAY(serial)
