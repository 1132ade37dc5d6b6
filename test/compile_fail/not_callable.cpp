// expect: fj::fork_join: each argument must be callable without arguments

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  fj::fork_join([] {}, [] {});
#else
  fj::fork_join([] {}, 5);
#endif
}
