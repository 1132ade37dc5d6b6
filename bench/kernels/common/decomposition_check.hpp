// The common part of the checks of decompositions: is A x the product of the factors and x?
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/kernels/common/random.hpp"

namespace bench {

inline std::vector<double> vector_to_check_with(std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = uniform_at(i) - 0.5;
  return x;
}

/// The number of rows in which y is A x, up to rounding. A has number_at(i, j) at row i, column j; numbers on the
/// diagonal are about as large as n, the others no larger than one.
template <class NumberAt>
std::uint64_t right_rows(const NumberAt& number_at, const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size();
  const double tolerance = 1e-12 * static_cast<double>(n);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < n; ++j) row += number_at(i, j) * x[j];
    right += std::abs(row - y[i]) <= tolerance;  // false if y[i] is not a number
  }
  return right;
}

}  // namespace bench
