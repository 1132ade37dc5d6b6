// Everything that writes elements, or has a body that may write them, refuses elements that share words. Tried without
// the refusal in parallel_for and in fork_each: compiles, and two P lose bits.
// expect: fj::parallel_for: neighbours in a std::vector<bool> cannot be written at the same time
// expect: fj::fork_each: neighbours in a std::vector<bool> cannot be written at the same time
// expect: fj::parallel_transform: the output must be a random-access iterator, and not that of a std::vector<bool>
// expect: fj::parallel_inclusive_scan, parallel_exclusive_scan: the output must be a random-access iterator, and not that of
// expect: fj::parallel_copy_if: neighbours in a std::vector<bool> cannot be written at the same time
// expect: fj::parallel_partition: neighbours in a std::vector<bool> cannot be written at the same time
// expect: fj::parallel_sort: neighbours in a std::vector<bool> cannot be written at the same time
// expect: fj::parallel_stable_sort: neighbours in a std::vector<bool> cannot be written at the same time
// expect: fj::parallel_merge: neighbours in a std::vector<bool> cannot be written at the same time

#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  std::vector<int> all(3), some(6);
#else
  std::vector<bool> all(3), some(6);
#endif
  const auto same = [](auto x) { return static_cast<bool>(x); };
  fj::parallel_for(all, [](auto&& x) { x = true; });
  fj::fork_each(all.rbegin(), all.rend(), [](auto&& x) { x = true; });
  fj::parallel_transform(all, some.rbegin(), same);
  fj::parallel_scan(std::as_const(all), some.begin());
  fj::parallel_copy_if(all, some.begin(), same);
  fj::parallel_partition(some, same);
  fj::parallel_sort(some);
  fj::parallel_stable_sort(some);
  fj::parallel_merge(std::as_const(all), std::as_const(all), some.begin());
}
