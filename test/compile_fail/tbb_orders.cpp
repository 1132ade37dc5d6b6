// oneTBB's arguments: a range, an identity, a body of a range, and a join. Its own ranges are none of the language.
// Tried without the overloads for these: 119 lines for parallel_reduce and 138 for parallel_scan.
// refused: fj::parallel_reduce: the body takes a range, as in
// refused: fj::parallel_scan: the body takes a range, as in
// expect: // (first, last, identity, body, join)

#include <cstddef>
#include <functional>
#include <vector>

#include "forkjoin/forkjoin.hpp"

struct blocked_range {
  std::size_t first, last;
  std::size_t begin() const { return first; }
  std::size_t end() const { return last; }
};

template <class Range>
concept reduces = requires(Range r, int (*sum)(const Range&, int)) { fj::parallel_reduce(r, 0, sum, std::plus<>()); };
static_assert(!reduces<blocked_range> && !reduces<std::vector<int>>);

int main() {
  std::vector<int> v(3);
#ifdef FIXED
  static_cast<void>(fj::parallel_reduce(v.begin(), v.end(), 0, std::plus<>()));
  fj::parallel_scan(v.begin(), v.end(), v.begin(), std::plus<>(), 0);
#else
  const auto sum = [](const auto& r, int before) { return before + static_cast<int>(r.end() - r.begin()); };
  const auto scan = [](const auto& r, int before, bool) { return before + static_cast<int>(r.end() - r.begin()); };
  static_cast<void>(fj::parallel_reduce(blocked_range{0, 3}, 0, sum, std::plus<>()));
  fj::parallel_scan(blocked_range{0, 3}, 0, scan, std::plus<>());
#endif
}
