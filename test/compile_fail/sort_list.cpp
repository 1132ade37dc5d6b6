// A std::list has no random access; the message says that, and what to do.
// expect: fj::parallel_sort: needs random-access iterators; a std::list has its own sort

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
