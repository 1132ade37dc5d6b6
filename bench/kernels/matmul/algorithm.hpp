// C += A B by recursion on quarters, down to tiles, without temporaries: the four quarters of C are independent, and
// each is the sum of two products. After the matmul of Cilk-5 (Frigo, Leiserson, Randall 1998) and Blumofe et al.
#pragma once

#include "bench/harness/work.hpp"
#include "bench/kernels/common/matrix.hpp"

namespace bench::matmul {

template <class Way, int sign = 1>
void multiply_add(std::size_t n, view a, view b, block c);

/// c += sign * (row of quarters) * (column of quarters)
template <class Way, int sign>
void inner_product(std::size_t n, view a1, view b1, view a2, view b2, block c) {
  multiply_add<Way, sign>(n, a1, b1, c);
  multiply_add<Way, sign>(n, a2, b2, c);
}

/// c += sign * a b, n x n each; sign is 1 or -1.
template <class Way, int sign>
void multiply_add(std::size_t n, view a, view b, block c) {
  if (n == tile) {
    if constexpr (counts_work<Way>) Way::work(unit::matmul_flop, n * n * n);
    return tile_product<sign>(a, b, c);
  }
  const std::size_t half = n / 2;
  const quarters qa(a, half), qb(b, half);
  const quarters qc(c, half);
  Way::fork([&] { inner_product<Way, sign>(half, qa.nw, qb.nw, qa.ne, qb.sw, qc.nw); },
            [&] { inner_product<Way, sign>(half, qa.nw, qb.ne, qa.ne, qb.se, qc.ne); },
            [&] { inner_product<Way, sign>(half, qa.sw, qb.nw, qa.se, qb.sw, qc.sw); },
            [&] { inner_product<Way, sign>(half, qa.sw, qb.ne, qa.se, qb.se, qc.se); });
}

}  // namespace bench::matmul
