// C = A B for rectangular matrices by recursion on the longest of the three edges, after Cilk-5's rectmul (Frigo,
// Leiserson, Randall 1998). Halves of A's rows, or of B's columns, are independent. Halves of the edge that A and B
// share are added one after the other.
#pragma once

#include <algorithm>
#include <cstddef>

#include "bench/harness/work.hpp"
#include "bench/kernels/common/matrix.hpp"

namespace bench::rectmul {

/// A matrix of tiles, whose numbers lie together. Edges are counted in tiles.
template <class T>
struct tiles {
  T* first;
  std::size_t stride;

  basic_block<T> at(std::size_t row, std::size_t column) const {
    return {first + (row * stride + column) * tile * tile, tile};
  }
  tiles from(std::size_t row, std::size_t column) const { return {at(row, column).at, stride}; }
};
using input = tiles<const double>;
using output = tiles<double>;

/// The edges of a product: A is rows x shared, B is shared x columns.
struct edges {
  std::size_t rows, shared, columns;
};

/// c = a b for tiles, or c += a b.
inline void multiply_tiles(input a, input b, output c, bool add) {
  const block out = c.at(0, 0);
  if (!add) std::fill_n(out.at, tile * tile, 0.0);
  tile_product<1>(a.at(0, 0), b.at(0, 0), out);
}

template <class Way>
void multiply(const edges& of, input a, input b, output c, bool add) {
  const auto [rows, shared, columns] = of;
  if (rows + shared + columns == 3) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, tile * tile * tile);
    return multiply_tiles(a, b, c, add);
  }
  if (rows >= shared && rows >= columns) {
    const std::size_t half = rows / 2;
    Way::fork([=] { multiply<Way>({half, shared, columns}, a, b, c, add); },
              [=] { multiply<Way>({rows - half, shared, columns}, a.from(half, 0), b, c.from(half, 0), add); });
  } else if (columns >= shared) {
    const std::size_t half = columns / 2;
    Way::fork([=] { multiply<Way>({rows, shared, half}, a, b, c, add); },
              [=] { multiply<Way>({rows, shared, columns - half}, a, b.from(0, half), c.from(0, half), add); });
  } else {
    const std::size_t half = shared / 2;
    multiply<Way>({rows, half, columns}, a, b, c, add);
    multiply<Way>({rows, shared - half, columns}, a.from(0, half), b.from(half, 0), c, true);
  }
}

}  // namespace bench::rectmul
