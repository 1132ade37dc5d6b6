// In how many ways can n queens stand on a board without attacking each other? Usage: queens [n], default 11. Forks
// divide the columns of a row. Each branch has the board by value, so branches share nothing.

#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>

// The columns that the queens above attack in the next row, a bit for each.
struct board {
  unsigned columns = 0, left_diagonals = 0, right_diagonals = 0;

  unsigned attacked() const { return columns | left_diagonals | right_diagonals; }
  board with(unsigned column) const {
    return {columns | column, (left_diagonals | column) << 1, (right_diagonals | column) >> 1};
  }
};

long solutions(board, unsigned row, unsigned n);

// Counts the solutions with the queen of this row in one of the columns [first, last).
long in_columns(board above, unsigned row, unsigned n, unsigned first, unsigned last) {
  if (last - first == 1) {
    const unsigned column = 1u << first;
    return (above.attacked() & column) ? 0 : solutions(above.with(column), row + 1, n);
  }
  const unsigned middle = first + (last - first) / 2;
  auto [a, b] = fj::fork_join([=] { return in_columns(above, row, n, first, middle); },
                              [=] { return in_columns(above, row, n, middle, last); });
  return a + b;
}

long solutions(board above, unsigned row, unsigned n) { return row == n ? 1 : in_columns(above, row, n, 0, n); }

int main(int argc, char** argv) {
  const unsigned n = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 11;
  if (n < 1 || n > 16) {
    std::cerr << "queens: n is " << n << ", but must be from 1 to 16\n";
    return 1;
  }
  std::cout << n << " queens: " << fj::run([=] { return solutions({}, 0, n); }) << " solutions\n";
}
