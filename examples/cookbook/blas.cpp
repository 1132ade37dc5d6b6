// A BLAS below the forks: the loop divides the product into blocks, and each call of the library computes one of them.
// It must use one thread alone: OPENBLAS_NUM_THREADS=1, MKL_NUM_THREADS=1, or a serial BLAS. Then it computes, and
// blocks nothing.

#include <cblas.h>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <vector>

int main() {
  constexpr std::size_t n = 500;
  constexpr int stride = n;
  std::vector<double> a(n * n, 1.0), b(n * n, 2.0), c(n * n);
  const auto multiply = [&](const fj::block_2d& block) {
    const auto rows = static_cast<int>(block.rows()), cols = static_cast<int>(block.cols());
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, cols, stride, 1.0, &a[block.row_begin * n], stride,
                &b[block.col_begin], stride, 0.0, &c[block.row_begin * n + block.col_begin], stride);
  };
  fj::parallel_for_2d(n, n, multiply, {.grain = 64 * 64});
  std::cout << "sum " << static_cast<long>(fj::parallel_reduce(c, 0.0, std::plus<>())) << '\n';
}
