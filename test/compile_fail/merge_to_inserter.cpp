// An output that can only grow at its end cannot be written in several places at once.
// refused: fj::parallel_merge: no random access: the inputs and the output need random-access iterators, to begin in
// several places at once; give the output the room it needs instead of a std::back_inserter

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
