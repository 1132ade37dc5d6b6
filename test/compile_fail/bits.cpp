// expect: fj::parallel_transform: the output must be a random-access iterator, and not that of a std::vector<bool>
// expect: fj::parallel_copy_if: neighbours in a std::vector<bool> cannot be written at the same time
// expect: fj::parallel_partition: neighbours in a std::vector<bool> cannot be written at the same time

#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  std::vector<int> all(3), some(3);
#else
  std::vector<bool> all(3), some(3);
#endif
  const auto same = [](auto x) { return static_cast<bool>(x); };
  fj::parallel_transform(all, some.rbegin(), same);
  fj::parallel_copy_if(all, some.begin(), same);
  fj::parallel_partition(some, same);
}
