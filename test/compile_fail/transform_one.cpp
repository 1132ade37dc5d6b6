// refused: fj::parallel_transform_reduce: the projection does not fit: it, or the transformation, must be callable with
// the elements

#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  const std::vector<double> a(3), b(3);
#ifdef FIXED
  const double range = fj::parallel_transform_reduce(a, b.begin(), 0.0, std::plus<>(), std::multiplies<>());
  const double iterators =
      fj::parallel_transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(), std::multiplies<>());
#else
  const double range = fj::parallel_transform_reduce(a, 0.0, std::plus<>(), std::multiplies<>());
  const double iterators = fj::parallel_transform_reduce(a.begin(), a.end(), 0.0, std::plus<>(), std::multiplies<>());
#endif
  return static_cast<int>(range + iterators);
}
