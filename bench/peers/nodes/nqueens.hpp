// A row of nqueens: one join waits for all safe places of its queen. BENCH_NODE_WAY: the way, whose `each` forks the
// places.
#pragma once

#include <array>
#include <cstddef>

namespace bench::nqueens {

template <>
inline long count<ways::BENCH_NODE_WAY>(const board& queens, int n, int row) {
  if (row == n) return 1;
  std::array<signed char, 16> places;
  int found = 0;
  for (int column = 0; column < n; ++column) {
    if (safe(queens, row, column)) places[static_cast<std::size_t>(found++)] = static_cast<signed char>(column);
  }
  if (found == 0) return 0;
  std::array<long, 16> sums;
  ways::BENCH_NODE_WAY::each(found, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    board with_this = queens;
    with_this[static_cast<std::size_t>(row)] = places[at];
    sums[at] = count<ways::BENCH_NODE_WAY>(with_this, n, row + 1);
  });
  long sum = 0;
  for (int i = 0; i < found; ++i) sum += sums[static_cast<std::size_t>(i)];
  return sum;
}

}  // namespace bench::nqueens
