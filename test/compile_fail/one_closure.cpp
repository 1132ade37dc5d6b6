// One closure is a plain call: there is nothing to fork.
// expect: no matching function for call to

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  fj::fork_join([] {}, [] {});
#else
  fj::fork_join([] {});
#endif
}
