// An output that can only grow at its end cannot be written in several places at once.
// expect: fj::parallel_merge: needs random-access iterators, for the output, too

#include <iterator>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  const std::vector<int> a{1, 3}, b{2, 4};
#ifdef FIXED
  std::vector<int> merged(4);
  fj::parallel_merge(a, b, merged.begin());
#else
  std::vector<int> merged;
  fj::parallel_merge(a, b, std::back_inserter(merged));
#endif
}
