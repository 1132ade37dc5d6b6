// The serial program, written by hand.
#include "bench/harness/ways/serial.hpp"
#include "bench/harness/problem.hpp"

namespace bench::nqueens {

namespace {

long count(const board& queens, int n, int row) {
  if (row == n) return 1;
  long sum = 0;
  for (int column = 0; column < n; ++column) {
    if (!safe(queens, row, column)) continue;
    board with_this = queens;
    with_this[row] = static_cast<signed char>(column);
    sum += count(with_this, n, row + 1);
  }
  return sum;
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  result_ = count(board{}, n_, 0);
}

}  // namespace bench::nqueens

BENCH_WAY(serial)
