// n steps of heat in a square of n x n points whose border is kept cold. It begins with a standing wave of temperature.
// The steps only make the wave flatter, by a known factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/heat/algorithm.hpp"

namespace bench::heat {

inline constexpr long small[] = {64};
inline constexpr long usual[] = {512};
inline constexpr long large[] = {1024};

inline constexpr kernel description{
    .name = "heat",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = [](long n) -> std::uint64_t {
      if (n < 3) throw std::invalid_argument("heat: the size is from 3 up");
      return static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n);  // the number of right points
    },
};

/// sin(pi waves i / (n - 1)) for i from 0 to n - 1; exactly 0 at both ends.
inline std::vector<double> half_waves(long n, int waves) {
  std::vector<double> wave(static_cast<std::size_t>(n));
  for (std::size_t i = 1; i + 1 < wave.size(); ++i) {
    wave[i] = std::sin(std::numbers::pi * waves * static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return wave;
}

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : n_(size), vertical_(half_waves(n_, 5)), horizontal_(half_waves(n_, 3)), from_(points()), to_(points()) {}

  void reset() {
    for (std::size_t at = 0; at < from_.size(); ++at) from_[at] = first_temperature(at);
    std::fill(to_.begin(), to_.end(), 0.0);
  }
  void run() { end_ = simulate<Way>(from_.data(), to_.data(), n_, n_, n_); }
  std::uint64_t result() const {
    const double rest = std::pow(1 - rate * (4 - 2 * cosine(5) - 2 * cosine(3)), n_);
    std::uint64_t right = 0;
    for (std::size_t at = 0; at < points(); ++at) right += std::abs(end_[at] - rest * first_temperature(at)) < 1e-11;
    return right;
  }

 private:
  std::size_t points() const { return vertical_.size() * vertical_.size(); }
  double cosine(int waves) const { return std::cos(std::numbers::pi * waves / static_cast<double>(n_ - 1)); }
  double first_temperature(std::size_t at) const {
    return vertical_[at / vertical_.size()] * horizontal_[at % vertical_.size()];
  }

  long n_;
  std::vector<double> vertical_, horizontal_;
  std::vector<double> from_, to_;
  const double* end_ = nullptr;
};

}  // namespace bench::heat
