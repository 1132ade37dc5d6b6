// Everything that writes elements, or has a body that may write them, refuses elements that share words. Tried without
// the refusal in parallel_for and in fork_each: compiles, and two P lose bits.
// refused: fj::parallel_for: std::vector<bool> shares words: neighbours cannot be written at the same time; use a
// std::vector<char>, or, to read only, std::as_const" refused: fj::fork_each: std::vector<bool> shares words:
// neighbours cannot be written at the same time; use a std::vector<char>, or, to read only, std::as_const" refused:
// fj::parallel_for_each: std::vector<bool> shares words: neighbours cannot be written at the same time; use a
// std::vector<char>, or, to read only, std::as_const" refused:
// fj::parallel_transform: the output has no random access, or is that of a std::vector<bool>, whose neighbours cannot
// be written at the same time refused: fj::parallel_scan: the output has no random access, or is that of a
// std::vector<bool>, whose neighbours cannot be written at the same time refused: fj::parallel_copy_if:
// std::vector<bool> shares words: neighbours cannot be written at the same time; use a std::vector<char>" refused:
// fj::parallel_partition: std::vector<bool> shares words: neighbours cannot be written at the same time; use a
// std::vector<char>" refused: fj::parallel_sort: std::vector<bool> shares words: neighbours cannot be written at the
// same time; use a std::vector<char>" refused: fj::parallel_stable_sort: std::vector<bool> shares words: neighbours
// cannot be written at the same time; use a std::vector<char>" refused: fj::parallel_merge: std::vector<bool> shares
// words: neighbours cannot be written at the same time; use a std::vector<char>"

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
  fj::parallel_for_each(all, [](auto&& x, fj::feeder<typename decltype(all)::value_type>&) { x = true; });
  fj::parallel_transform(all, some.rbegin(), same);
  fj::parallel_scan(std::as_const(all), some.begin());
  fj::parallel_copy_if(all, some.begin(), same);
  fj::parallel_partition(some, same);
  fj::parallel_sort(some);
  fj::parallel_stable_sort(some);
  fj::parallel_merge(std::as_const(all), std::as_const(all), some.begin());
}
