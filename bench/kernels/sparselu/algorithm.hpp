// LU decomposition, without pivoting, of a matrix of blocks of which most are empty, after the program `sparselu` of
// the Barcelona OpenMP Tasks Suite (Duran, Teruel, Ferrer, Martorell, Ayguade, ICPP 2009). A step for each block on the
// diagonal: a loop over the blocks to its right and below it, then two nested loops over the blocks that both meet in,
// some of which come into being there. How many blocks a loop finds is irregular.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "bench/harness/work.hpp"
#include "bench/kernels/common/matrix.hpp"

namespace bench::sparselu {

inline constexpr std::size_t edge = 32;  // of a block, in rows
inline constexpr long grain = 1;         // blocks

class sparse_matrix {
 public:
  explicit sparse_matrix(std::size_t n) : n_(n), blocks_(n * n) {}

  std::size_t size() const { return n_; }  // in blocks
  bool has(std::size_t i, std::size_t j) const { return blocks_[i * n_ + j].has_value(); }
  block at(std::size_t i, std::size_t j) const { return {blocks_[i * n_ + j]->get(), edge}; }

  /// A block of numbers without values. Strands may add different blocks at the same time.
  block add(std::size_t i, std::size_t j) {
    blocks_[i * n_ + j].emplace(edge * edge);
    return at(i, j);
  }
  void remove(std::size_t i, std::size_t j) { blocks_[i * n_ + j].reset(); }

 private:
  std::size_t n_;
  std::vector<std::optional<aligned_numbers>> blocks_;
};

inline void decompose_block(block a) {
  for (std::size_t k = 0; k < edge; ++k) {
    for (std::size_t i = k + 1; i < edge; ++i) {
      const double factor = a[i][k] /= a[k][k];
      for (std::size_t j = k + 1; j < edge; ++j) a[i][j] -= factor * a[k][j];
    }
  }
}

/// m = (L of l)^-1 m
inline void solve_lower(view l, block m) {
  for (std::size_t i = 1; i < edge; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = l[i][k];
      for (std::size_t j = 0; j < edge; ++j) m[i][j] -= factor * m[k][j];
    }
  }
}

/// m = m (U of u)^-1
inline void solve_upper(view u, block m) {
  for (std::size_t i = 0; i < edge; ++i) {
    for (std::size_t k = 0; k < edge; ++k) {
      const double factor = m[i][k] /= u[k][k];
      for (std::size_t j = k + 1; j < edge; ++j) m[i][j] -= factor * u[k][j];
    }
  }
}

/// Block (i, j) -= block (i, k) * block (k, j).
inline void subtract_product(sparse_matrix& a, std::size_t i, std::size_t j, std::size_t k) {
  if (!a.has(i, j)) std::fill_n(a.add(i, j).at, edge * edge, 0.0);
  for (std::size_t row = 0; row < edge; row += tile) {
    for (std::size_t column = 0; column < edge; column += tile) {
      for (std::size_t inner = 0; inner < edge; inner += tile) {
        tile_product<-1>({a.at(i, k)[row] + inner, edge}, {a.at(k, j)[inner] + column, edge},
                         {a.at(i, j)[row] + column, edge});
      }
    }
  }
}

/// The blocks to the right of the diagonal's k-th, and those below it.
template <class Way>
void solve_border(sparse_matrix& a, std::size_t k) {
  const auto rest = static_cast<long>(a.size() - k - 1);
  Way::loop(0, 2 * rest, grain, [&, k, rest](long first, long last) {
    for (long at = first; at < last; ++at) {
      const std::size_t other = k + 1 + static_cast<std::size_t>(at % rest);
      const std::size_t i = at < rest ? k : other;
      const std::size_t j = at < rest ? other : k;
      if (!a.has(i, j)) continue;
      if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, edge * edge * edge / 2);
      if (at < rest) {
        solve_lower(a.at(k, k), a.at(i, j));
      } else {
        solve_upper(a.at(k, k), a.at(i, j));
      }
    }
  });
}

/// What the k-th step takes from row i.
template <class Way>
void subtract_row(sparse_matrix& a, std::size_t i, std::size_t k) {
  Way::loop(static_cast<long>(k) + 1, static_cast<long>(a.size()), grain, [&, i, k](long first, long last) {
    for (auto j = static_cast<std::size_t>(first); j < static_cast<std::size_t>(last); ++j) {
      if (!a.has(k, j)) continue;
      if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, edge * edge * edge);
      subtract_product(a, i, j, k);
    }
  });
}

/// a = L and U of a.
template <class Way>
void decompose(sparse_matrix& a) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, edge * edge * edge / 3.0);
    decompose_block(a.at(k, k));
    if (k + 1 == a.size()) return;
    solve_border<Way>(a, k);
    Way::loop(static_cast<long>(k) + 1, static_cast<long>(a.size()), grain, [&, k](long first, long last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        if (a.has(i, k)) subtract_row<Way>(a, i, k);
      }
    });
  }
}

}  // namespace bench::sparselu
