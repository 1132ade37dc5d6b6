// Dense square matrices for the recursive linear algebra: storage, blocks of it, and the product of the smallest
// blocks.
//
// A block is n x n, where n is a power of two, at least `tile`. Recursions halve n until it is `tile`. Then loops of
// constant length take over, which compilers turn into vector code. A block does not keep n, because the recursion
// knows it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace bench {

inline constexpr std::size_t tile = 16;

template <class T>
struct basic_block {
  T* at;
  std::size_t stride;

  T* operator[](std::size_t row) const { return at + row * stride; }
  operator basic_block<const T>() const { return {at, stride}; }
};
using block = basic_block<double>;
using view = basic_block<const double>;

/// The four quarters of a block of 2 half x 2 half.
template <class T>
struct quarters {
  basic_block<T> nw, ne, sw, se;

  quarters(basic_block<T> whole, std::size_t half)
      : nw{whole},
        ne{whole.at + half, whole.stride},
        sw{whole[half], whole.stride},
        se{whole[half] + half, whole.stride} {}
};

inline constexpr std::size_t cache_line = 64;  // bytes

/// Numbers without values that begin at a cache line. Otherwise vectors of 32 or 64 bytes would lie across two lines:
/// with -march=native a product took half as long again (Zen 4, n = 1024). Vectors of 16 bytes do not care.
class aligned_numbers {
 public:
  explicit aligned_numbers(std::size_t count)
      : first_(static_cast<double*>(::operator new(count * sizeof(double), std::align_val_t{cache_line}))) {}

  double* get() const { return first_.get(); }

 private:
  struct deleter {
    void operator()(double* numbers) const { ::operator delete(numbers, std::align_val_t{cache_line}); }
  };
  std::unique_ptr<double[], deleter> first_;
};

/// n x n numbers without values. A row begins a cache line after the end of the row before: n is a power of two, so the
/// rows of a tile would be in the same few sets of the cache otherwise.
class square_matrix {
 public:
  explicit square_matrix(std::size_t n) : n_(n), stride_(n + cache_line / sizeof(double)), numbers_(n * stride_) {}

  std::size_t size() const { return n_; }
  block all() { return {numbers_.get(), stride_}; }
  view all() const { return {numbers_.get(), stride_}; }

 private:
  std::size_t n_, stride_;
  aligned_numbers numbers_;
};

inline std::size_t checked_matrix_size(long n) {
  if (n < static_cast<long>(tile) || (n & (n - 1)) != 0) {
    throw std::invalid_argument("a matrix of size " + std::to_string(n) + ": it must be a power of two from " +
                                std::to_string(tile) + " up");
  }
  return static_cast<std::size_t>(n);
}

/// c += sign * a b for three tiles.
template <int sign>
[[gnu::always_inline]] inline void tile_product(view a, view b, block c) {
  for (std::size_t i = 0; i < tile; ++i) {
    double sum[tile];
    for (std::size_t j = 0; j < tile; ++j) sum[j] = c[i][j];
    for (std::size_t k = 0; k < tile; ++k) {
      const double x = sign * a[i][k];
      for (std::size_t j = 0; j < tile; ++j) sum[j] += x * b[k][j];
    }
    for (std::size_t j = 0; j < tile; ++j) c[i][j] = sum[j];
  }
}

}  // namespace bench
