// In how many ways n queens stand on a board of n by n so that none attacks another, on many machines. Places with
// fewer than three queens are roots, which ranks hand on; below these the rows are forks.
//
//   mpirun -n 4 queens [n]      default 10
#include <array>
#include <cstddef>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/mpi.hpp>
#include <functional>
#include <iostream>

namespace {

constexpr int most = 14, rows_of_roots = 3;
constexpr std::array<long, most + 1> known{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2'680, 14'200, 73'712, 365'596};

// The queens of the first rows, by their columns.
struct board {
  std::array<signed char, most> column{};
  int rows = 0;

  bool is_safe(int next) const {
    for (int row = 0; row < rows; ++row) {
      const int aside = column[static_cast<std::size_t>(row)] - next;
      if (aside == 0 || aside == rows - row || aside == row - rows) return false;
    }
    return true;
  }
  board with(int next) const {
    board more = *this;
    more.column[static_cast<std::size_t>(more.rows++)] = static_cast<signed char>(next);
    return more;
  }
};

long count(const board& b, int n) {
  if (b.rows == n) return 1;
  return fj::fork_reduce(0, n, 0L, std::plus<>(),
                         [&](int next) { return b.is_safe(next) ? count(b.with(next), n) : 0; });
}

}  // namespace

int main(int argc, char** argv) {
  const fj::mpi::session mpi;
  const int n = argc > 1 ? std::atoi(argv[1]) : 10;
  if (n < 0 || n > most) return 2;

  fj::mpi::steal_pool<board> pool(mpi);
  if (mpi.rank() == 0) pool.add({});
  const auto handler = [&](const board& b) {
    if (b.rows >= rows_of_roots) return count(b, n);
    if (b.rows == n) return 1L;
    for (int next = 0; next < n; ++next)
      if (b.is_safe(next)) pool.add(b.with(next));
    return 0L;
  };
  const long ways = pool.run(0L, handler, std::plus<>());

  const bool right = ways == known[static_cast<std::size_t>(n)];
  if (mpi.rank() == 0)
    std::cout << ways << " ways, " << (right ? "right" : "wrong") << " on " << mpi.ranks()
              << (mpi.ranks() == 1 ? " rank\n" : " ranks\n");
  return right ? 0 : 1;
}
