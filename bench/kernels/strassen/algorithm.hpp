// C = A B by Strassen's seven products (Gaussian elimination is not optimal, 1969) down to 64 x 64, below which the
// ordinary product is faster. Four of the products are formed in the quarters of C, three in temporaries; sums of
// quarters live as long as the product that needs them. Products that need two sums alternate with products that need
// one, so that two threads that go through them in order hold three sums at a time.
#pragma once

#include "bench/harness/work.hpp"
#include "bench/kernels/common/matrix.hpp"

namespace bench::strassen {

inline constexpr std::size_t leaf_size = 64;
inline constexpr std::size_t leaf_rows = 32;  // for sums, which are computed by rows

inline void multiply_leaf(std::size_t n, view a, view b, block c) {
  for (std::size_t i = 0; i < n; i += tile) {
    for (std::size_t j = 0; j < n; j += tile) {
      const block out{c[i] + j, c.stride};
      for (std::size_t row = 0; row < tile; ++row) {
        for (std::size_t column = 0; column < tile; ++column) out[row][column] = 0;
      }
      for (std::size_t k = 0; k < n; k += tile) tile_product<1>({a[i] + k, a.stride}, {b[k] + j, b.stride}, out);
    }
  }
}

/// out = x + sign * y for rows [first, last) of n numbers.
template <int sign>
void add_rows(std::size_t n, std::size_t first, std::size_t last, view x, view y, block out) {
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t j = 0; j < n; ++j) out[i][j] = x[i][j] + sign * y[i][j];
  }
}

template <class Way, int sign>
void add(std::size_t n, std::size_t first, std::size_t last, view x, view y, block out) {
  if (last - first <= leaf_rows) {
    if constexpr (counts_work<Way>) Way::work(unit::matrix_add, (last - first) * n);
    return add_rows<sign>(n, first, last, x, y, out);
  }
  const std::size_t middle = first + (last - first) / 2;
  Way::fork([=] { add<Way, sign>(n, first, middle, x, y, out); }, [=] { add<Way, sign>(n, middle, last, x, y, out); });
}

template <class Way>
square_matrix sum(std::size_t n, view x, view y) {
  square_matrix out(n);
  add<Way, 1>(n, 0, n, x, y, out.all());
  return out;
}

template <class Way>
square_matrix difference(std::size_t n, view x, view y) {
  square_matrix out(n);
  add<Way, -1>(n, 0, n, x, y, out.all());
  return out;
}

/// Rows [first, last) of the quarters of C from the products: c.nw holds m7, c.ne m3, c.sw m2, c.se m6.
inline void combine_rows(std::size_t n, std::size_t first, std::size_t last, view m1, view m4, view m5,
                         const quarters<double>& c) {
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double m2 = c.sw[i][j];
      const double m3 = c.ne[i][j];
      c.nw[i][j] += m1[i][j] + m4[i][j] - m5[i][j];
      c.ne[i][j] = m3 + m5[i][j];
      c.sw[i][j] = m2 + m4[i][j];
      c.se[i][j] += m1[i][j] - m2 + m3;
    }
  }
}

template <class Way>
void combine(std::size_t n, std::size_t first, std::size_t last, view m1, view m4, view m5, const quarters<double>& c) {
  if (last - first <= leaf_rows) {
    if constexpr (counts_work<Way>) Way::work(unit::matrix_add, 8 * (last - first) * n);
    return combine_rows(n, first, last, m1, m4, m5, c);
  }
  const std::size_t middle = first + (last - first) / 2;
  Way::fork([&] { combine<Way>(n, first, middle, m1, m4, m5, c); },
            [&] { combine<Way>(n, middle, last, m1, m4, m5, c); });
}

/// c = a b, n x n each.
template <class Way>
void multiply(std::size_t n, view whole_a, view whole_b, block whole_c) {
  if (n <= leaf_size) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n);
    return multiply_leaf(n, whole_a, whole_b, whole_c);
  }
  const std::size_t half = n / 2;
  const quarters a(whole_a, half), b(whole_b, half);
  const quarters c(whole_c, half);
  square_matrix m1(half), m4(half), m5(half);
  Way::fork(
      [&] {
        const square_matrix s = sum<Way>(half, a.nw, a.se), t = sum<Way>(half, b.nw, b.se);
        multiply<Way>(half, s.all(), t.all(), m1.all());
      },
      [&] { multiply<Way>(half, sum<Way>(half, a.sw, a.se).all(), b.nw, c.sw); },
      [&] {
        const square_matrix s = difference<Way>(half, a.sw, a.nw), t = sum<Way>(half, b.nw, b.ne);
        multiply<Way>(half, s.all(), t.all(), c.se);
      },
      [&] { multiply<Way>(half, a.nw, difference<Way>(half, b.ne, b.se).all(), c.ne); },
      [&] {
        const square_matrix s = difference<Way>(half, a.ne, a.se), t = sum<Way>(half, b.sw, b.se);
        multiply<Way>(half, s.all(), t.all(), c.nw);
      },
      [&] { multiply<Way>(half, a.se, difference<Way>(half, b.sw, b.nw).all(), m4.all()); },
      [&] { multiply<Way>(half, sum<Way>(half, a.nw, a.ne).all(), b.se, m5.all()); });
  combine<Way>(half, 0, half, m1.all(), m4.all(), m5.all(), c);
}

}  // namespace bench::strassen
