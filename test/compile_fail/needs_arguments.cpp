// expect: fj::fork_join: each argument must be callable without arguments

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  fj::fork_join([] { return 1; }, [] { return 2; }, [] { return 3; });
#else
  fj::fork_join([] { return 1; }, [] { return 2; }, [](int x) { return x; });
#endif
}
