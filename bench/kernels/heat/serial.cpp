// The serial program, written by hand.
#include <utility>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::heat {

template <>
void problem<ways::serial>::run() {
  double* from = from_.data();
  double* to = to_.data();
  for (long step = 0; step < n_; ++step) {
    for (long i = 1; i + 1 < n_; ++i) step_row(from + i * n_, to + i * n_, n_);
    std::swap(from, to);
  }
  end_ = from;
}

}  // namespace bench::heat

BENCH_WAY(serial)
