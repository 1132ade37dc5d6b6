// Inputs for matrix products and the check of their result, which is exact: all numbers are integers far below 2^53.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/kernels/common/matrix.hpp"
#include "bench/kernels/common/random.hpp"

namespace bench {

inline void fill_with_small_integers(square_matrix& m, std::uint64_t seed) {
  const std::size_t n = m.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) m.all()[i][j] = static_cast<double>(random_at(seed + i * n + j) % 16) - 8;
  }
}

inline std::vector<double> times(view m, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += m[i][j] * x[j];
  }
  return y;
}

/// The number of rows in which c is a b, by Freivalds's check (1979): c x = a (b x) for a random x. No element of x is
/// 0, so a row with one wrong number never passes, and a row with several passes only by a rare accident.
inline std::uint64_t right_rows(const square_matrix& a, const square_matrix& b, const square_matrix& c) {
  std::vector<double> x(a.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * static_cast<double>(random_at(i) % 512) - 511;
  const std::vector<double> is = times(c.all(), x);
  const std::vector<double> should_be = times(a.all(), times(b.all(), x));
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < x.size(); ++i) right += is[i] == should_be[i];
  return right;
}

}  // namespace bench
