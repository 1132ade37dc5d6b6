// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::lu {

namespace {

/// c -= a b
void multiply_subtract(std::size_t n, view a, view b, block c) {
  if (n == tile) return tile_product<-1>(a, b, c);
  const std::size_t half = n / 2;
  const quarters qa(a, half), qb(b, half);
  const quarters qc(c, half);
  multiply_subtract(half, qa.nw, qb.nw, qc.nw);
  multiply_subtract(half, qa.ne, qb.sw, qc.nw);
  multiply_subtract(half, qa.nw, qb.ne, qc.ne);
  multiply_subtract(half, qa.ne, qb.se, qc.ne);
  multiply_subtract(half, qa.sw, qb.nw, qc.sw);
  multiply_subtract(half, qa.se, qb.sw, qc.sw);
  multiply_subtract(half, qa.sw, qb.ne, qc.se);
  multiply_subtract(half, qa.se, qb.se, qc.se);
}

/// m = (L of l)^-1 m
void solve_lower(std::size_t n, view l, block m) {
  if (n == tile) return solve_lower_tile(l, m);
  const std::size_t half = n / 2;
  const quarters ql(l, half);
  const quarters qm(m, half);
  solve_lower(half, ql.nw, qm.nw);
  multiply_subtract(half, ql.sw, qm.nw, qm.sw);
  solve_lower(half, ql.se, qm.sw);
  solve_lower(half, ql.nw, qm.ne);
  multiply_subtract(half, ql.sw, qm.ne, qm.se);
  solve_lower(half, ql.se, qm.se);
}

/// m = m (U of u)^-1
void solve_upper(std::size_t n, view u, block m) {
  if (n == tile) return solve_upper_tile(u, m);
  const std::size_t half = n / 2;
  const quarters qu(u, half);
  const quarters qm(m, half);
  solve_upper(half, qu.nw, qm.nw);
  multiply_subtract(half, qm.nw, qu.ne, qm.ne);
  solve_upper(half, qu.se, qm.ne);
  solve_upper(half, qu.nw, qm.sw);
  multiply_subtract(half, qm.sw, qu.ne, qm.se);
  solve_upper(half, qu.se, qm.se);
}

void decompose(std::size_t n, block a) {
  if (n == tile) return decompose_tile(a);
  const std::size_t half = n / 2;
  const quarters q(a, half);
  decompose(half, q.nw);
  solve_lower(half, q.nw, q.ne);
  solve_upper(half, q.nw, q.sw);
  multiply_subtract(half, q.sw, q.ne, q.se);
  decompose(half, q.se);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  decompose(n_, a_.all());
}

}  // namespace bench::lu

BENCH_WAY(serial)
