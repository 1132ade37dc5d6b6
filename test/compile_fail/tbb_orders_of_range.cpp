// As tbb_orders, with ranges of the language.
// refused: fj::parallel_reduce: the body takes a range, as in
// refused: fj::parallel_scan: the body takes a range, as in oneTBB: pass first, last, and a body(begin, end, value,
// is_final)

#include <functional>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  std::vector<int> v(3);
#ifdef FIXED
  static_cast<void>(fj::parallel_reduce(v, 0, std::plus<>()));
  fj::parallel_scan(v, v.begin(), std::plus<>(), 0);
#else
  const auto sum = [](std::vector<int>& r, int before) { return before + r[0]; };
  const auto scan = [](const std::vector<int>& r, int before, bool) { return before + r[0]; };
  static_cast<void>(fj::parallel_reduce(v, 0, sum, std::plus<>()));
  fj::parallel_scan(v, 0, scan, std::plus<>());
#endif
}
