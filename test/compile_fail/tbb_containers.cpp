// A container of oneTBB, by this library's <tbb/tbb.h>, where no oneTBB is installed.
// expect: forkjoin has no containers of its own, and found no oneTBB's: install oneTBB (Debian: libtbb-dev)

#define FORKJOIN_NO_ONETBB
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
