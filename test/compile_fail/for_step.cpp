// A step is an integer before the body, and only loops over indices have one.
// refused: fj::parallel_for: the step is no integer: it stands before the body, and must be an integer, not a
// character; a grain goes into braces behind the body: {.grain = 64} refused: fj::parallel_for: a step goes with
// indices only, which are integers, not characters; loop over the indices of the elements

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
