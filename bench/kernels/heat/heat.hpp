// n steps of heat in a square of n x n points, or 100 steps in the literature's rectangle of 4,096 x 1,024 points,
// which has the size 4,096. The border is kept cold. The plane begins with a standing wave of temperature. The steps
// only make the wave flatter, by a known factor.
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
inline constexpr long large[] = {1024, 4096};

struct shape {
  long rows, columns, steps;
};

inline shape shape_of(long n) {
  if (n < 3) throw std::invalid_argument("heat: the size is from 3 up");
  return n == 4096 ? shape{n, 1024, 100} : shape{n, n, n};
}

inline constexpr kernel description{
    .name = "heat",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    // Right points.
    .expected = [](long n) { return static_cast<std::uint64_t>(shape_of(n).rows * shape_of(n).columns); },
    .label = [](long n) -> std::string_view { return n == 4096 ? "4,096 x 1,024" : ""; },
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
      : shape_(shape_of(size)),
        vertical_(half_waves(shape_.rows, 5)),
        horizontal_(half_waves(shape_.columns, 3)),
        from_(points()),
        to_(points()) {}

  void reset() {
    for (std::size_t at = 0; at < from_.size(); ++at) from_[at] = first_temperature(at);
    std::fill(to_.begin(), to_.end(), 0.0);
  }
  void run() { end_ = simulate<Way>(from_.data(), to_.data(), shape_.rows, shape_.columns, shape_.steps); }
  std::uint64_t result() const {
    const double rest =
        std::pow(1 - rate * (4 - 2 * cosine(5, shape_.rows) - 2 * cosine(3, shape_.columns)), shape_.steps);
    std::uint64_t right = 0;
    for (std::size_t at = 0; at < points(); ++at) right += std::abs(end_[at] - rest * first_temperature(at)) < 1e-11;
    return right;
  }

 private:
  std::size_t points() const { return vertical_.size() * horizontal_.size(); }
  static double cosine(int waves, long n) { return std::cos(std::numbers::pi * waves / static_cast<double>(n - 1)); }
  double first_temperature(std::size_t at) const {
    return vertical_[at / horizontal_.size()] * horizontal_[at % horizontal_.size()];
  }

  shape shape_;
  std::vector<double> vertical_, horizontal_;
  std::vector<double> from_, to_;
  const double* end_ = nullptr;
};

}  // namespace bench::heat
