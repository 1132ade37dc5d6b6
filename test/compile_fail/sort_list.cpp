// A std::list has no random access; the message says that, and what to do.
// refused: fj::parallel_sort: no random access: sorts need random-access iterators; a std::list has its own sort, or
// copy it to a vector

#include <list>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  std::vector<int> numbers{3, 1, 2};
#else
  std::list<int> numbers{3, 1, 2};
#endif
  fj::parallel_sort(numbers);
}
