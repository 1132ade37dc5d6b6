// refused: fj::parallel_for_2d: rows or columns are no integers: their numbers must be integers, not characters

#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  std::vector<int> cells(6);
  const auto body = [&](std::size_t i, std::size_t j) { cells[i * 3 + j] = 1; };
#ifdef FIXED
  fj::parallel_for_2d(2, 3u, body);
#else
  fj::parallel_for_2d(2.5, 3, body);
  fj::parallel_for_2d(2, 'c', body);
#endif
}
