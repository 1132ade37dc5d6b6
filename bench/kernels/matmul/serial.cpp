// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::matmul {

namespace {

void multiply_add(std::size_t n, view a, view b, block c) {
  if (n == tile) return tile_product<1>(a, b, c);
  const std::size_t half = n / 2;
  const quarters qa(a, half), qb(b, half);
  const quarters qc(c, half);
  multiply_add(half, qa.nw, qb.nw, qc.nw);
  multiply_add(half, qa.ne, qb.sw, qc.nw);
  multiply_add(half, qa.nw, qb.ne, qc.ne);
  multiply_add(half, qa.ne, qb.se, qc.ne);
  multiply_add(half, qa.sw, qb.nw, qc.sw);
  multiply_add(half, qa.se, qb.sw, qc.sw);
  multiply_add(half, qa.sw, qb.ne, qc.se);
  multiply_add(half, qa.se, qb.se, qc.se);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  multiply_add(n_, a_.all(), b_.all(), c_.all());
}

}  // namespace bench::matmul

BENCH_WAY(serial)
