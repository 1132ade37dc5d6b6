// The serial build has no fibers.
// flags: -DFORKJOIN_SERIAL
// expect: forkjoin: the serial build has forks, scopes and loops, but no fibers, waits or locks

#ifndef FIXED
#include "forkjoin/go.hpp"
#else
#include "forkjoin/forkjoin.hpp"
#endif

int main() {
#ifdef FIXED
  fj::run([] {});
#else
  fj::go([] {}).get();
#endif
}
