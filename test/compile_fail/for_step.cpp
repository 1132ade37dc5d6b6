// A step is an integer before the body, and only loops over indices have one.
// expect: fj::parallel_for: the step, which stands before the body, must be an integer, not a character; a grain goes into braces behind the body: {.grain = 64}
// expect: fj::parallel_for: a step goes with indices only

#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  std::vector<int> all(3);
#ifdef FIXED
  fj::parallel_for(0, 3, 2, [](int) {});
  fj::parallel_for(0, 3, [](int) {}, {.grain = 64});
  fj::parallel_for(std::size_t(0), all.size(), 2, [&](std::size_t i) { ++all[i]; });
#else
  fj::parallel_for(0, 3, 2.0, [](int) {});
  fj::parallel_for(0, 3, [](int) {}, 64);
  fj::parallel_for(all.begin(), all.end(), 2, [](int& x) { ++x; });
#endif
}
