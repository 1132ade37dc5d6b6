// Matrix multiplication by blocks. Usage: matrix [n], default 500 rows and columns.

#include <cstddef>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <vector>

class matrix {
 public:
  matrix(std::size_t rows, std::size_t cols) : cols_(cols), cells_(rows * cols) {}

  double* operator[](std::size_t row) { return cells_.data() + row * cols_; }
  const double* operator[](std::size_t row) const { return cells_.data() + row * cols_; }
  std::size_t rows() const { return cols_ ? cells_.size() / cols_ : 0; }
  std::size_t cols() const { return cols_; }

 private:
  std::size_t cols_;
  std::vector<double> cells_;
};

matrix operator*(const matrix& a, const matrix& b) {
  matrix product(a.rows(), b.cols());
  fj::parallel_for_2d(a.rows(), b.cols(),
                      [&](const fj::block_2d& block) {
                        for (std::size_t i = block.row_begin; i != block.row_end; ++i) {
                          double* const row = product[i];
                          for (std::size_t k = 0; k != a.cols(); ++k) {
                            const double factor = a[i][k];
                            const double* const other = b[k];
                            for (std::size_t j = block.col_begin; j != block.col_end; ++j) row[j] += factor * other[j];
                          }
                        }
                      },
                      {.grain = 64 * 64});  // so that the columns of b that a block needs stay in the cache
  return product;
}

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500;
  matrix a(n, n), b(n, n);
  fj::parallel_for_2d(n, n, [&](std::size_t i, std::size_t j) {
    a[i][j] = static_cast<double>(i + j);
    b[i][j] = i == j ? 2 : 0;
  });
  const matrix c = a * b;

  bool right = true;
  for (std::size_t i = 0; i != n; ++i)
    for (std::size_t j = 0; j != n; ++j) right &= c[i][j] == 2.0 * static_cast<double>(i + j);
  std::cout << n << " x " << n << ": the product is " << (right ? "right" : "wrong") << '\n';
  return right ? 0 : 1;
}
