// The forms of std::reduce and std::transform_reduce that add.
// refused: fj::parallel_reduce: no operation: add std::plus<>()
// refused: fj::parallel_reduce: no initial value, no operation:
// refused: fj::parallel_transform_reduce: no operations: add std::plus<>()

#include <functional>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  const std::vector<int> a(3), b(3);
#ifdef FIXED
  int sum = fj::parallel_reduce(a.begin(), a.end(), 0, std::plus<>()) + fj::parallel_reduce(a, 0, std::plus<>());
  sum += fj::parallel_transform_reduce(a.begin(), a.end(), b.begin(), 0, std::plus<>(), std::multiplies<>());
  return sum;
#else
  static_cast<void>(fj::parallel_reduce(a.begin(), a.end(), 0));
  static_cast<void>(fj::parallel_reduce(a, 0, {.grain = 1}));
  fj::parallel_reduce(a.begin(), a.end());
  fj::parallel_reduce(a);
  static_cast<void>(fj::parallel_transform_reduce(a.begin(), a.end(), b.begin(), 0));
  static_cast<void>(fj::parallel_transform_reduce(a, b.begin(), 0));
#endif
}
