// The serial program, written by hand.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::flat {

template <>
void problem<ways::serial>::run() {
  result_ = 0;
  for (long i = 0; i < count_; ++i) {
    const long first = leaf();
    result_ += first + leaf();
  }
}

}  // namespace bench::flat

BENCH_WAY(serial)
