// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::strassen {

namespace {

square_matrix sum(std::size_t n, view x, view y) {
  square_matrix out(n);
  add_rows<1>(n, 0, n, x, y, out.all());
  return out;
}

square_matrix difference(std::size_t n, view x, view y) {
  square_matrix out(n);
  add_rows<-1>(n, 0, n, x, y, out.all());
  return out;
}

void multiply(std::size_t n, view whole_a, view whole_b, block whole_c) {
  if (n <= leaf_size) return multiply_leaf(n, whole_a, whole_b, whole_c);
  const std::size_t half = n / 2;
  const quarters a(whole_a, half), b(whole_b, half);
  const quarters c(whole_c, half);
  square_matrix m1(half), m4(half), m5(half);
  multiply(half, sum(half, a.nw, a.se).all(), sum(half, b.nw, b.se).all(), m1.all());
  multiply(half, sum(half, a.sw, a.se).all(), b.nw, c.sw);
  multiply(half, difference(half, a.sw, a.nw).all(), sum(half, b.nw, b.ne).all(), c.se);
  multiply(half, a.nw, difference(half, b.ne, b.se).all(), c.ne);
  multiply(half, difference(half, a.ne, a.se).all(), sum(half, b.sw, b.se).all(), c.nw);
  multiply(half, a.se, difference(half, b.sw, b.nw).all(), m4.all());
  multiply(half, sum(half, a.nw, a.ne).all(), b.se, m5.all());
  combine_rows(half, 0, half, m1.all(), m4.all(), m5.all(), c);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  multiply(n_, a_.all(), b_.all(), c_.all());
}

}  // namespace bench::strassen

BENCH_WAY(serial)
