// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::cholesky {

namespace {

/// c -= a b^T
void subtract(std::size_t n, view a, view b, block c) {
  if (n == tile) return subtract_tile(a, b, c);
  const std::size_t half = n / 2;
  const quarters qa(a, half), qb(b, half);
  const quarters qc(c, half);
  subtract(half, qa.nw, qb.nw, qc.nw);
  subtract(half, qa.ne, qb.ne, qc.nw);
  subtract(half, qa.nw, qb.sw, qc.ne);
  subtract(half, qa.ne, qb.se, qc.ne);
  subtract(half, qa.sw, qb.nw, qc.sw);
  subtract(half, qa.se, qb.ne, qc.sw);
  subtract(half, qa.sw, qb.sw, qc.se);
  subtract(half, qa.se, qb.se, qc.se);
}

/// c -= a a^T, the lower triangle.
void subtract_square(std::size_t n, view a, block c) {
  if (n == tile) return subtract_tile(a, a, c);
  const std::size_t half = n / 2;
  const quarters qa(a, half);
  const quarters qc(c, half);
  subtract_square(half, qa.nw, qc.nw);
  subtract_square(half, qa.ne, qc.nw);
  subtract(half, qa.sw, qa.nw, qc.sw);
  subtract(half, qa.se, qa.ne, qc.sw);
  subtract_square(half, qa.sw, qc.se);
  subtract_square(half, qa.se, qc.se);
}

/// m = m (l^T)^-1 for a lower triangle l.
void solve(std::size_t n, view l, block m) {
  if (n == tile) return solve_tile(l, m);
  const std::size_t half = n / 2;
  const quarters ql(l, half);
  const quarters qm(m, half);
  solve(half, ql.nw, qm.nw);
  subtract(half, qm.nw, ql.sw, qm.ne);
  solve(half, ql.se, qm.ne);
  solve(half, ql.nw, qm.sw);
  subtract(half, qm.sw, ql.sw, qm.se);
  solve(half, ql.se, qm.se);
}

void decompose(std::size_t n, block a) {
  if (n == tile) return decompose_tile(a);
  const std::size_t half = n / 2;
  const quarters q(a, half);
  decompose(half, q.nw);
  solve(half, q.nw, q.sw);
  subtract_square(half, q.sw, q.se);
  decompose(half, q.se);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  decompose(n_, a_.all());
}

}  // namespace bench::cholesky

BENCH_WAY(serial)
