// Cholesky decomposition of a symmetric, positive definite n x n matrix.
#pragma once

#include <algorithm>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/cholesky/algorithm.hpp"
#include "bench/kernels/common/decomposition_check.hpp"

namespace bench::cholesky {

inline constexpr long small[] = {128};
inline constexpr long usual[] = {1024};
inline constexpr long large[] = {4096};

inline constexpr kernel description{
    .name = "cholesky",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = [](long n) -> std::uint64_t { return checked_matrix_size(n); },
};

/// The matrix to decompose: its diagonal is so large that it is positive definite.
inline double number_at(std::size_t n, std::size_t i, std::size_t j) {
  return uniform_at(std::max(i, j) * n + std::min(i, j)) - 0.5 + (i == j ? static_cast<double>(n) : 0.0);
}

/// L L^T x
inline std::vector<double> product(view factor, const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> y(n), z(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) y[j] += factor[i][j] * x[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) z[i] += factor[i][j] * y[j];
  }
  return z;
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : n_(checked_matrix_size(size)), a_(n_) {}
  void reset() {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) a_.all()[i][j] = number_at(n_, i, j);
    }
  }
  void run() { decompose<Way>(n_, a_.all()); }
  std::uint64_t result() const {
    const std::vector<double> x = vector_to_check_with(n_);
    return right_rows([n = n_](std::size_t i, std::size_t j) { return number_at(n, i, j); }, x, product(a_.all(), x));
  }

 private:
  std::size_t n_;
  square_matrix a_;
};

}  // namespace bench::cholesky
