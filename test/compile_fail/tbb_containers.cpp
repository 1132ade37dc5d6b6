// A container of oneTBB, by this library's <tbb/tbb.h>.
// expect: forkjoin has no containers of oneTBB: keep them in sources of their own, compiled with oneTBB

#include "forkjoin/tbb/tbb/tbb.h"

#include <vector>

int main() {
#ifdef FIXED
  tbb::combinable<std::vector<int>> found;
#else
  tbb::concurrent_vector<int> found;
#endif
  static_cast<void>(found);
}
