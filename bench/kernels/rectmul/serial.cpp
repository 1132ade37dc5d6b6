// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::rectmul {

namespace {

void multiply(std::size_t rows, std::size_t shared, std::size_t columns, input a, input b, output c, bool add) {
  if (rows + shared + columns == 3) return multiply_tiles(a, b, c, add);
  if (rows >= shared && rows >= columns) {
    const std::size_t half = rows / 2;
    multiply(half, shared, columns, a, b, c, add);
    multiply(rows - half, shared, columns, a.from(half, 0), b, c.from(half, 0), add);
  } else if (columns >= shared) {
    const std::size_t half = columns / 2;
    multiply(rows, shared, half, a, b, c, add);
    multiply(rows, shared, columns - half, a, b.from(0, half), c.from(0, half), add);
  } else {
    const std::size_t half = shared / 2;
    multiply(rows, half, columns, a, b, c, add);
    multiply(rows, shared - half, columns, a.from(0, half), b.from(half, 0), c, true);
  }
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  multiply(edges_.rows, edges_.shared, edges_.columns, input_a(), input_b(), c_.all(), false);
}

}  // namespace bench::rectmul

BENCH_WAY(serial)
