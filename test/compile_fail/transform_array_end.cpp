// refused: fj::parallel_transform_reduce: the projection does not fit: it, or the transformation, must be callable with
// the elements

#include "forkjoin/forkjoin.hpp"

int main() {
  const double a[3] = {}, b[3] = {};
#ifdef FIXED
  const double sum = fj::parallel_transform_reduce(a, a + 3, b, 0.0, std::plus<>(), std::multiplies<>()) +
                     fj::parallel_transform_reduce(a, b, 0.0, std::plus<>(), std::multiplies<>());
#else
  // The second sequence is missing. Not an inner product with what lies behind the array.
  const double sum = fj::parallel_transform_reduce(a, a + 3, 0.0, std::plus<>(), std::multiplies<>());
#endif
  return static_cast<int>(sum);
}
