// refused: fj::parallel_for_2d: the body takes a block: between bounds it takes cells, body(i, j); blocks need rows and columns from 0

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  fj::parallel_for_2d(1, 3, 1, 4, [](int, int) {});
#else
  fj::parallel_for_2d(1, 3, 1, 4, [](const fj::block_2d&) {});
#endif
}
