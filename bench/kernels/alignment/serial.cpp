// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::alignment {

template <>
void problem<ways::serial>::run() {
  const std::size_t count = proteins_.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      scores_[i * count + j] = score(proteins_[i], proteins_[j], scoring_);
    }
  }
}

}  // namespace bench::alignment

BENCH_WAY(serial)
