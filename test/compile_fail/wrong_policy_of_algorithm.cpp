// As wrong_policy.
// refused: fj::parallel_reduce: no fj::policy<order, join>: write
// refused: fj::parallel_transform_reduce: no fj::policy<order, join>: write
// refused: fj::parallel_scan: no fj::policy<order, join>: write
// refused: fj::parallel_inclusive_scan: no fj::policy<order, join>: write
// refused: fj::parallel_exclusive_scan: no fj::policy<order, join>: write
// refused: fj::parallel_sort: no fj::policy<order, join>: write
// refused: fj::parallel_stable_sort: no fj::policy<order, join>: write
// refused: fj::parallel_merge: no fj::policy<order, join>: write
// refused: fj::parallel_partition: no fj::policy<order, join>: write
// refused: fj::parallel_stable_partition: no fj::policy<order, join>: write
// refused: fj::parallel_copy_if: no fj::policy<order, join>: write
// refused: fj::parallel_transform: no fj::policy<order, join>: write
// refused: fj::parallel_find: no fj::policy<order, join>: write
// refused: fj::parallel_find_if: no fj::policy<order, join>: write
// refused: fj::parallel_any_of: no fj::policy<order, join>: write
// refused: fj::parallel_none_of: no fj::policy<order, join>: write
// refused: fj::parallel_all_of: no fj::policy<order, join>: write

#include <functional>
#include <vector>

#include "forkjoin/forkjoin.hpp"

#ifdef FIXED
using wrong = fj::policy<fj::first_child_first, fj::leapfrog>;
#else
using wrong = fj::leapfrog;
#endif

int main() {
  std::vector<int> v(3), w(6);
  const auto odd = [](int x) { return x % 2 != 0; };
  static_cast<void>(fj::parallel_reduce<wrong>(v, 0, std::plus<>()));
  static_cast<void>(fj::parallel_transform_reduce<wrong>(v, 0, std::plus<>(), odd));
  fj::parallel_scan<wrong>(v, w.begin());
  fj::parallel_inclusive_scan<wrong>(v, w.begin());
  fj::parallel_exclusive_scan<wrong>(v, w.begin(), 0);
  fj::parallel_sort<wrong>(v);
  fj::parallel_stable_sort<wrong>(v);
  fj::parallel_merge<wrong>(v, v, w.begin());
  fj::parallel_partition<wrong>(v, odd);
  fj::parallel_stable_partition<wrong>(v, odd);
  fj::parallel_copy_if<wrong>(v, w.begin(), odd);
  fj::parallel_transform<wrong>(v, w.begin(), odd);
  static_cast<void>(fj::parallel_find<wrong>(v, 1));
  static_cast<void>(fj::parallel_find_if<wrong>(v, odd));
  static_cast<void>(fj::parallel_any_of<wrong>(v, odd));
  static_cast<void>(fj::parallel_none_of<wrong>(v, odd));
  static_cast<void>(fj::parallel_all_of<wrong>(v, odd));
}
