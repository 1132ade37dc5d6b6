// LU decomposition of a sparse matrix of n x n blocks.
#pragma once

#include <stdexcept>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/decomposition_check.hpp"
#include "bench/kernels/sparselu/algorithm.hpp"

namespace bench::sparselu {

inline constexpr long small[] = {8};
inline constexpr long usual[] = {40};
inline constexpr long large[] = {120};

inline std::size_t checked_size(long n) {
  if (n < 1 || n > 1000) throw std::invalid_argument("sparselu: the size is from 1 to 1000");
  return static_cast<std::size_t>(n);
}

inline constexpr kernel description{
    .name = "sparselu",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = [](long n) { return static_cast<std::uint64_t>(checked_size(n) * edge); },  // the number of right rows
};

/// Blocks on the diagonal and beside it are there, of the others one in five.
inline bool is_there(std::size_t n, std::size_t i, std::size_t j) {
  return i <= j + 1 && j <= i + 1 ? true : random_at(i * n + j) % 5 == 0;
}

/// The matrix to decompose: its diagonal is so large that it needs no pivoting.
inline double number_at(std::size_t n, std::size_t row, std::size_t column) {
  if (!is_there(n, row / edge, column / edge)) return 0;
  return uniform_at(row * n * edge + column) - 0.5 + (row == column ? static_cast<double>(n * edge) : 0.0);
}

/// L U x
inline std::vector<double> product(const sparse_matrix& factors, const std::vector<double>& x) {
  const std::size_t n = x.size();
  const auto at = [&](std::size_t row, std::size_t column) {
    const std::size_t i = row / edge, j = column / edge;
    return factors.has(i, j) ? factors.at(i, j)[row % edge][column % edge] : 0.0;
  };
  std::vector<double> y(n), z(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) y[i] += at(i, j) * x[j];
  }
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = y[i];
    for (std::size_t j = 0; j < i; ++j) z[i] += at(i, j) * y[j];
  }
  return z;
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : a_(checked_size(size)) {}
  void reset() {
    const std::size_t n = a_.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (!is_there(n, i, j)) {
          a_.remove(i, j);
          continue;
        }
        const block made = a_.has(i, j) ? a_.at(i, j) : a_.add(i, j);
        for (std::size_t row = 0; row < edge; ++row) {
          for (std::size_t column = 0; column < edge; ++column) {
            made[row][column] = number_at(n, i * edge + row, j * edge + column);
          }
        }
      }
    }
  }
  void run() { decompose<Way>(a_); }
  std::uint64_t result() const {
    const std::vector<double> x = vector_to_check_with(a_.size() * edge);
    return right_rows([n = a_.size()](std::size_t i, std::size_t j) { return number_at(n, i, j); }, x, product(a_, x));
  }

 private:
  sparse_matrix a_;
};

}  // namespace bench::sparselu
