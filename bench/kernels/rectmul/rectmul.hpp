// The product of an n x 2n and a 2n x n/2 matrix by recursion: as many multiplications as for n x n matrices.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/random.hpp"
#include "bench/kernels/rectmul/algorithm.hpp"

namespace bench::rectmul {

inline constexpr long small[] = {96};
inline constexpr long usual[] = {512};
inline constexpr long large[] = {2048};

inline edges edges_of(long n) {
  if (n < 1 || n % 32 != 0) throw std::invalid_argument("rectmul: the size is a multiple of 32");
  const auto count = static_cast<std::size_t>(n) / tile;
  return {count, 2 * count, count / 2};
}

inline constexpr kernel description{
    .name = "rectmul",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = [](long n) { return static_cast<std::uint64_t>(edges_of(n).rows * tile); },  // the number of right rows
};

class matrix {
 public:
  matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), numbers_(rows * columns * tile * tile) {}

  input all() const { return {numbers_.get(), columns_}; }
  output all() { return {numbers_.get(), columns_}; }

  void fill(double number) { std::fill_n(numbers_.get(), size(), number); }
  void fill_with_small_integers(std::uint64_t seed) {
    for (std::size_t i = 0; i < size(); ++i) numbers_.get()[i] = static_cast<double>(random_at(seed + i) % 16) - 8;
  }

  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(rows_ * tile);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) y[i] += all().at(i / tile, j / tile)[i % tile][j % tile] * x[j];
    }
    return y;
  }

 private:
  std::size_t size() const { return rows_ * columns_ * tile * tile; }

  std::size_t rows_, columns_;
  aligned_numbers numbers_;
};

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : edges_(edges_of(size)),
        a_(edges_.rows, edges_.shared),
        b_(edges_.shared, edges_.columns),
        c_(edges_.rows, edges_.columns) {
    a_.fill_with_small_integers(0);
    b_.fill_with_small_integers(1'000'000'000);
  }
  void reset() { c_.fill(-1); }
  void run() { multiply<Way>(edges_, input_a(), input_b(), c_.all(), false); }

  /// The number of right rows, by Freivalds's check (1979), which is exact: the numbers are integers far below 2^53.
  std::uint64_t result() const {
    std::vector<double> x(edges_.columns * tile);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * static_cast<double>(random_at(i) % 512) - 511;
    const std::vector<double> is = c_.times(x);
    const std::vector<double> should_be = a_.times(b_.times(x));
    std::uint64_t right = 0;
    for (std::size_t i = 0; i < is.size(); ++i) right += is[i] == should_be[i];
    return right;
  }

 private:
  input input_a() const { return a_.all(); }
  input input_b() const { return b_.all(); }

  edges edges_;
  matrix a_, b_, c_;
};

}  // namespace bench::rectmul
