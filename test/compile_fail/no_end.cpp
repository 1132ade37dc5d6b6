// expect: forkjoin: a sequence needs an end, as it is cut into parts; std::unreachable_sentinel is none

#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  const std::vector<int> v(3);
#ifdef FIXED
  const auto at = fj::parallel_find(v.begin(), v.end(), 0);
#else
  const auto at = fj::parallel_find(v.begin(), std::unreachable_sentinel, 0);
#endif
  return at == v.begin() ? 0 : 1;
}
