// LU decomposition in place, without pivoting, by recursion on quarters down to tiles, after Cilk-5's lu: L below the
// diagonal with ones on it, U from the diagonal up.
#pragma once

#include "bench/harness/work.hpp"
#include "bench/kernels/common/matrix.hpp"
#include "bench/kernels/matmul/algorithm.hpp"

namespace bench::lu {

inline void decompose_tile(block a) {
  for (std::size_t k = 0; k < tile; ++k) {
    for (std::size_t i = k + 1; i < tile; ++i) {
      const double factor = a[i][k] /= a[k][k];
      for (std::size_t j = k + 1; j < tile; ++j) a[i][j] -= factor * a[k][j];
    }
  }
}

inline void solve_lower_tile(view l, block m) {
  for (std::size_t i = 1; i < tile; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double factor = l[i][k];
      for (std::size_t j = 0; j < tile; ++j) m[i][j] -= factor * m[k][j];
    }
  }
}

inline void solve_upper_tile(view u, block m) {
  for (std::size_t i = 0; i < tile; ++i) {
    for (std::size_t k = 0; k < tile; ++k) {
      const double factor = m[i][k] /= u[k][k];
      for (std::size_t j = k + 1; j < tile; ++j) m[i][j] -= factor * u[k][j];
    }
  }
}

template <class Way>
void solve_lower(std::size_t n, view l, block m);
template <class Way>
void solve_upper(std::size_t n, view u, block m);

/// One column of quarters of solve_lower.
template <class Way>
void solve_lower_column(std::size_t half, const quarters<const double>& l, block top, block bottom) {
  solve_lower<Way>(half, l.nw, top);
  matmul::multiply_add<Way, -1>(half, l.sw, top, bottom);
  solve_lower<Way>(half, l.se, bottom);
}

/// m = (L of l)^-1 m
template <class Way>
void solve_lower(std::size_t n, view l, block m) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n / 2);
    return solve_lower_tile(l, m);
  }
  const std::size_t half = n / 2;
  const quarters ql(l, half);
  const quarters qm(m, half);
  Way::fork([&] { solve_lower_column<Way>(half, ql, qm.nw, qm.sw); },
            [&] { solve_lower_column<Way>(half, ql, qm.ne, qm.se); });
}

/// One row of quarters of solve_upper.
template <class Way>
void solve_upper_row(std::size_t half, const quarters<const double>& u, block left, block right) {
  solve_upper<Way>(half, u.nw, left);
  matmul::multiply_add<Way, -1>(half, left, u.ne, right);
  solve_upper<Way>(half, u.se, right);
}

/// m = m (U of u)^-1
template <class Way>
void solve_upper(std::size_t n, view u, block m) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n / 2);
    return solve_upper_tile(u, m);
  }
  const std::size_t half = n / 2;
  const quarters qu(u, half);
  const quarters qm(m, half);
  Way::fork([&] { solve_upper_row<Way>(half, qu, qm.nw, qm.ne); },
            [&] { solve_upper_row<Way>(half, qu, qm.sw, qm.se); });
}

/// a = L and U of a, n x n.
template <class Way>
void decompose(std::size_t n, block a) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n / 3.0);
    return decompose_tile(a);
  }
  const std::size_t half = n / 2;
  const quarters q(a, half);
  decompose<Way>(half, q.nw);
  Way::fork([&] { solve_lower<Way>(half, q.nw, q.ne); }, [&] { solve_upper<Way>(half, q.nw, q.sw); });
  matmul::multiply_add<Way, -1>(half, q.sw, q.ne, q.se);
  decompose<Way>(half, q.se);
}

}  // namespace bench::lu
