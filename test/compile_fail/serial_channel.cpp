// Fibers of the serial build run to their end at once, so no two can talk.
// flags: -DFORKJOIN_SERIAL
// expect: fj::channel: in the serial build a fiber runs to its end at once, so no two could talk; build without FORKJOIN_SERIAL
// expect: fj::select: in the serial build a fiber runs to its end at once, so no two could talk; build without FORKJOIN_SERIAL

#include "forkjoin/go.hpp"

int main() {
#ifdef FIXED
  fj::go([] {}).get();
#else
  fj::channel<int> c;
  fj::select(1);
#endif
}
