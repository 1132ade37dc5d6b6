// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::sparselu {

template <>
void problem<ways::serial>::run() {
  const std::size_t n = a_.size();
  for (std::size_t k = 0; k < n; ++k) {
    decompose_block(a_.at(k, k));
    for (std::size_t j = k + 1; j < n; ++j) {
      if (a_.has(k, j)) solve_lower(a_.at(k, k), a_.at(k, j));
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      if (a_.has(i, k)) solve_upper(a_.at(k, k), a_.at(i, k));
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      if (!a_.has(i, k)) continue;
      for (std::size_t j = k + 1; j < n; ++j) {
        if (a_.has(k, j)) subtract_product(a_, i, j, k);
      }
    }
  }
}

}  // namespace bench::sparselu

BENCH_WAY(serial)
