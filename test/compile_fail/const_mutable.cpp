// A mutable closure cannot be called if it is const.
// expect: fj::fork_join: each argument must be callable without arguments

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  auto counter = [n = 0]() mutable { return ++n; };
#else
  const auto counter = [n = 0]() mutable { return ++n; };
#endif
  fj::fork_join(counter, [] { return 2; });
}
