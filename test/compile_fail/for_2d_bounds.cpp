// refused: fj::parallel_for_2d: the body takes a block_2d, whose rows and columns are std::size_t: between bounds it
// takes the ends of a block, of their types: body(first_row, last_row, first_column, last_column)

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  fj::parallel_for_2d(1, 3, 1, 4, [](int, int, int, int) {});
#else
  fj::parallel_for_2d(1, 3, 1, 4, [](const fj::block_2d&) {});
#endif
}
