// LU decomposition of an n x n matrix.
#pragma once

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/decomposition_check.hpp"
#include "bench/kernels/lu/algorithm.hpp"

namespace bench::lu {

inline constexpr long small[] = {128};
inline constexpr long usual[] = {1024};
inline constexpr long large[] = {4096};

inline constexpr kernel description{
    .name = "lu",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = [](long n) -> std::uint64_t { return checked_matrix_size(n); },
};

/// The matrix to decompose: its diagonal is so large that it needs no pivoting.
inline double number_at(std::size_t n, std::size_t i, std::size_t j) {
  return uniform_at(i * n + j) - 0.5 + (i == j ? static_cast<double>(n) : 0.0);
}

/// L U x
inline std::vector<double> product(view factors, const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> y(n), z(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) y[i] += factors[i][j] * x[j];
  }
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = y[i];
    for (std::size_t j = 0; j < i; ++j) z[i] += factors[i][j] * y[j];
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

}  // namespace bench::lu
