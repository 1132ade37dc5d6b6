// The product of two n x n matrices by recursion.
#pragma once

#include <algorithm>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/product_check.hpp"
#include "bench/kernels/matmul/algorithm.hpp"

namespace bench::matmul {

inline constexpr long small[] = {64};
inline constexpr long usual[] = {512};
inline constexpr long large[] = {4096};

inline constexpr kernel description{
    .name = "matmul",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = [](long n) -> std::uint64_t { return checked_matrix_size(n); },
};

template <class Way>
class problem {
 public:
  explicit problem(long size) : n_(checked_matrix_size(size)), a_(n_), b_(n_), c_(n_) {
    fill_with_small_integers(a_, 0);
    fill_with_small_integers(b_, n_ * n_);
  }
  void reset() {
    for (std::size_t i = 0; i < n_; ++i) std::fill_n(c_.all()[i], n_, 0.0);
  }
  void run() { multiply_add<Way>(n_, a_.all(), b_.all(), c_.all()); }
  std::uint64_t result() const { return right_rows(a_, b_, c_); }

 private:
  std::size_t n_;
  square_matrix a_, b_, c_;
};

}  // namespace bench::matmul
