// refused: fj::parallel_for: the body takes no element: it must be callable with an element of the sequence
// refused: fj::parallel_for: the body takes no index: it must be callable with one

#include <string>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  std::vector<std::string> all(3);
#ifdef FIXED
  fj::parallel_for(all, [](std::string& s) { s += '.'; });
  fj::parallel_for(0, 3, [&](int i) { all[static_cast<std::size_t>(i)] += '.'; });
#else
  fj::parallel_for(all, [](int& x) { ++x; });
  fj::parallel_for(0, 3, [&](std::string& s) { s += '.'; });
#endif
}
