// refused: fj::parallel_for: the range has no random access, or no size; what has not, as a std::list, can be copied or
// have its iterators put into a refused: fj::parallel_for: no integers or random access: first and last must be
// integers, not characters, or random-access iterators

#include <list>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  std::vector<int> all{1, 2, 3};
#else
  std::list<int> all{1, 2, 3};
#endif
  fj::parallel_for(all, [](int& x) { ++x; });
  fj::parallel_for(all.begin(), all.end(), [](int& x) { ++x; });
}
