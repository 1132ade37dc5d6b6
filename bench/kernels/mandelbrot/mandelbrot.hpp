// The Mandelbrot set in n x n points.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/mandelbrot/algorithm.hpp"

namespace bench::mandelbrot {

inline constexpr long small[] = {64};
inline constexpr long usual[] = {512};
inline constexpr long large[] = {2048};

inline constexpr std::int32_t limit = 1000;

/// The sums of count * (index % 1009 + 1) over the points, row by row, computed by another program with integers of any
/// length.
inline std::uint64_t expected(long n) {
  switch (n) {
    case small[0]:
      return 359'920'353;
    case usual[0]:
      return 22'977'174'477;
    case large[0]:
      return 365'836'422'048;
  }
  throw std::invalid_argument("mandelbrot: the size is 64, 512 or 2048");
}

inline constexpr kernel description{
    .name = "mandelbrot",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
};

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : picture_{static_cast<std::int32_t>(size), limit}, counts_(static_cast<std::size_t>(size * size)) {}

  void reset() { std::fill(counts_.begin(), counts_.end(), 0); }
  void run() { draw<Way>(picture_, counts_.data()); }
  std::uint64_t result() const {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < counts_.size(); ++at)
      sum += static_cast<std::uint64_t>(counts_[at]) * (at % 1009 + 1);
    return sum;
  }

 private:
  picture picture_;
  std::vector<std::int32_t> counts_;
};

}  // namespace bench::mandelbrot
