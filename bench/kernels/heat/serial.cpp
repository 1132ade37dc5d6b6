// The serial program, written by hand.
#include <utility>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::heat {

template <>
void problem<ways::serial>::run() {
  double* from = from_.data();
  double* to = to_.data();
  const auto [rows, columns, steps] = shape_;
  for (long step = 0; step < steps; ++step) {
    for (long i = 1; i + 1 < rows; ++i) step_row(from + i * columns, to + i * columns, columns);
    std::swap(from, to);
  }
  end_ = from;
}

}  // namespace bench::heat

BENCH_WAY(serial)
