// expect: fj::parallel_for: the range must have random access and a size
// expect: fj::parallel_for: first and last must be integers, not characters, or random-access iterators

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
