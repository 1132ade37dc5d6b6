// The discrete Fourier transform of n numbers z^0, z^1, ..., z^(n-1), which is (1 - z^n) / (1 - z w^k), w = e^(-2 pi i
// / n).
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/fft/algorithm.hpp"

namespace bench::fft {

inline constexpr long small[] = {1L << 13};
inline constexpr long usual[] = {1L << 20};
inline constexpr long large[] = {1L << 24};

inline std::size_t checked_size(long n) {
  if (n < static_cast<long>(leaf_size) || (n & (n - 1)) != 0) {
    throw std::invalid_argument("fft: the size is a power of two from " + std::to_string(leaf_size) + " up");
  }
  return static_cast<std::size_t>(n);
}

inline constexpr kernel description{
    .name = "fft",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = [](long n) -> std::uint64_t { return checked_size(n); },  // the number of right numbers
};

/// z^exponent for z = e^(-1/n + 2 pi i (f + 1/3) / n), with a whole number f; the angle is reduced exactly.
inline number power_of_z(std::size_t n, std::size_t exponent) {
  const std::size_t thirds = (3 * (n / 5) + 1) * exponent % (3 * n);
  const double turns = static_cast<double>(thirds) / static_cast<double>(3 * n);
  return std::polar(std::exp(-static_cast<double>(exponent) / static_cast<double>(n)), 2 * std::numbers::pi * turns);
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : n_(checked_size(size)), in_(n_), roots_(n_), out_(n_) {
    for (std::size_t j = 0; j < n_; ++j) in_[j] = power_of_z(n_, j);
    const std::size_t half = n_ / 2;
    for (std::size_t k = 0; k < half; ++k) {
      roots_[half + k] = std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(half));
    }
    for (std::size_t k = half - 1; k > 0; --k) roots_[k] = roots_[2 * k];
  }
  void reset() { std::fill(out_.begin(), out_.end(), number(0)); }
  void run() { transform<Way>(n_, in_.data(), 1, roots_.data(), out_.data()); }
  std::uint64_t result() const {
    const number one_less_last = 1.0 - power_of_z(n_, n_);
    const std::size_t half = n_ / 2;
    std::uint64_t right = 0;
    for (std::size_t k = 0; k < n_; ++k) {
      const number root = k < half ? roots_[half + k] : -roots_[k];
      right += std::abs(product(out_[k], 1.0 - product(in_[1], root)) - one_less_last) < 1e-8;
    }
    return right;
  }

 private:
  std::size_t n_;
  std::vector<number> in_, roots_, out_;
};

}  // namespace bench::fft
