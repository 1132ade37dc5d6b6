// expect: fj::fork_each: the range must have random access and a size
// expect: fj::fork_each: first and last must be integers, not characters, or random-access iterators

#include <list>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  std::vector<int> all{1, 2, 3};
#else
  std::list<int> all{1, 2, 3};
#endif
  fj::fork_each(all, [](int& x) { ++x; });
  fj::fork_each(all.begin(), all.end(), [](int& x) { ++x; });
}
