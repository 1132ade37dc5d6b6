// How many ways there are to put n queens on a board of n by n so that none attacks another: a fork for every safe
// place, with a copy of the board. The rest of a fork is the places further right in the same row.
#pragma once

#include <array>
#include <stdexcept>

#include "bench/harness/kernel.hpp"
#include "bench/harness/work.hpp"

namespace bench::nqueens {

constexpr long small[] = {8};
constexpr long usual[] = {12};
constexpr long large[] = {14};

constexpr std::uint64_t solutions[] = {1,   1,   0,     0,      2,      10,      4,         40,        92,
                                       352, 724, 2'680, 14'200, 73'712, 365'596, 2'279'184, 14'772'512};

constexpr std::uint64_t expected(long n) {
  if (n < 0 || n > 16) throw std::invalid_argument("nqueens: the size is from 0 to 16");
  return solutions[n];
}

inline constexpr kernel description{
    .name = "nqueens",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
};

// The column of the queen in each row that has one.
using board = std::array<signed char, 16>;

inline bool safe(const board& queens, int row, int column) {
  for (int above = 0; above < row; ++above) {
    const int distance = queens[above] - column;
    if (distance == 0 || distance == row - above || distance == above - row) return false;
  }
  return true;
}

template <class Way>
long count(const board& queens, int n, int row);

// Counts the solutions with the queen of this row in this column or further right.
template <class Way>
long count_from(const board& queens, int n, int row, int column) {
  while (column < n && !safe(queens, row, column)) ++column;
  if constexpr (counts_work<Way>) Way::work(unit::nqueens_place, 1);
  if (column == n) return 0;
  auto [here, further] = Way::fork(
      [&queens, n, row, column] {
        board with_this = queens;
        with_this[row] = static_cast<signed char>(column);
        return count<Way>(with_this, n, row + 1);
      },
      [&queens, n, row, column] { return count_from<Way>(queens, n, row, column + 1); });
  return here + further;
}

template <class Way>
long count(const board& queens, int n, int row) {
  if (row == n) {
    if constexpr (counts_work<Way>) Way::work(unit::nqueens_place, 1);
    return 1;
  }
  if constexpr (Way::is_serial) {
    long sum = 0;
    for (int column = 0; column < n; ++column) {
      if (!safe(queens, row, column)) continue;
      board with_this = queens;
      with_this[row] = static_cast<signed char>(column);
      sum += count<Way>(with_this, n, row + 1);
    }
    return sum;
  } else {
    return count_from<Way>(queens, n, row, 0);
  }
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : n_(static_cast<int>(size)) {}
  void run() { result_ = count<Way>(board{}, n_, 0); }
  std::uint64_t result() const { return static_cast<std::uint64_t>(result_); }

 private:
  int n_;
  long result_ = 0;
};

}  // namespace bench::nqueens
