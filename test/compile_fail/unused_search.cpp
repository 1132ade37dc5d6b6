// A search without a use of its result is a mistake.
// expect: nodiscard

#include <vector>

#include "forkjoin/forkjoin.hpp"

#pragma GCC diagnostic error "-Wunused-result"

int main() {
  const std::vector<int> numbers{1, 2};
#ifdef FIXED
  return fj::parallel_find(numbers, 2) == numbers.end();
#else
  fj::parallel_find(numbers, 2);
#endif
}
