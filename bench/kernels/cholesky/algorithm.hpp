// Cholesky decomposition in place, A = L L^T, by recursion on quarters down to tiles: Cilk-5's cholesky for dense
// matrices. It reads and sets only the lower triangle, except that it works on whole tiles on the diagonal; the
// elements above the diagonal in them mean nothing.
#pragma once

#include <cmath>

#include "bench/harness/work.hpp"
#include "bench/kernels/common/matrix.hpp"

namespace bench::cholesky {

inline void decompose_tile(block a) {
  for (std::size_t k = 0; k < tile; ++k) {
    a[k][k] = std::sqrt(a[k][k]);
    for (std::size_t i = k + 1; i < tile; ++i) {
      a[i][k] /= a[k][k];
      for (std::size_t j = k + 1; j <= i; ++j) a[i][j] -= a[i][k] * a[j][k];
    }
  }
}

inline void solve_tile(view l, block m) {
  for (std::size_t i = 0; i < tile; ++i) {
    for (std::size_t k = 0; k < tile; ++k) {
      double rest = m[i][k];
      for (std::size_t j = 0; j < k; ++j) rest -= m[i][j] * l[k][j];
      m[i][k] = rest / l[k][k];
    }
  }
}

/// c -= a b^T. With b turned first, the loops are those of a product.
inline void subtract_tile(view a, view b, block c) {
  double turned[tile * tile];
  for (std::size_t i = 0; i < tile; ++i) {
    for (std::size_t j = 0; j < tile; ++j) turned[j * tile + i] = b[i][j];
  }
  tile_product<-1>(a, {turned, tile}, c);
}

template <class Way>
void subtract(std::size_t n, view a, view b, block c);

template <class Way>
void subtract_both(std::size_t n, view a1, view b1, view a2, view b2, block c) {
  subtract<Way>(n, a1, b1, c);
  subtract<Way>(n, a2, b2, c);
}

/// c -= a b^T
template <class Way>
void subtract(std::size_t n, view a, view b, block c) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n);
    return subtract_tile(a, b, c);
  }
  const std::size_t half = n / 2;
  const quarters qa(a, half), qb(b, half);
  const quarters qc(c, half);
  Way::fork([&] { subtract_both<Way>(half, qa.nw, qb.nw, qa.ne, qb.ne, qc.nw); },
            [&] { subtract_both<Way>(half, qa.nw, qb.sw, qa.ne, qb.se, qc.ne); },
            [&] { subtract_both<Way>(half, qa.sw, qb.nw, qa.se, qb.ne, qc.sw); },
            [&] { subtract_both<Way>(half, qa.sw, qb.sw, qa.se, qb.se, qc.se); });
}

/// c -= a a^T, the lower triangle.
template <class Way>
void subtract_square(std::size_t n, view a, block c) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n);
    return subtract_tile(a, a, c);
  }
  const std::size_t half = n / 2;
  const quarters qa(a, half);
  const quarters qc(c, half);
  const auto diagonal = [half](view left, view right, block out) {
    subtract_square<Way>(half, left, out);
    subtract_square<Way>(half, right, out);
  };
  Way::fork([&] { diagonal(qa.nw, qa.ne, qc.nw); },
            [&] { subtract_both<Way>(half, qa.sw, qa.nw, qa.se, qa.ne, qc.sw); },
            [&] { diagonal(qa.sw, qa.se, qc.se); });
}

template <class Way>
void solve(std::size_t n, view l, block m);

/// One row of quarters of solve.
template <class Way>
void solve_row(std::size_t half, const quarters<const double>& l, block left, block right) {
  solve<Way>(half, l.nw, left);
  subtract<Way>(half, left, l.sw, right);
  solve<Way>(half, l.se, right);
}

/// m = m (l^T)^-1 for a lower triangle l.
template <class Way>
void solve(std::size_t n, view l, block m) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n / 2);
    return solve_tile(l, m);
  }
  const std::size_t half = n / 2;
  const quarters ql(l, half);
  const quarters qm(m, half);
  Way::fork([&] { solve_row<Way>(half, ql, qm.nw, qm.ne); }, [&] { solve_row<Way>(half, ql, qm.sw, qm.se); });
}

/// The lower triangle of a = L with L L^T = a, n x n.
template <class Way>
void decompose(std::size_t n, block a) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n / 6.0);
    return decompose_tile(a);
  }
  const std::size_t half = n / 2;
  const quarters q(a, half);
  decompose<Way>(half, q.nw);
  solve<Way>(half, q.nw, q.sw);
  subtract_square<Way>(half, q.sw, q.se);
  decompose<Way>(half, q.se);
}

}  // namespace bench::cholesky
