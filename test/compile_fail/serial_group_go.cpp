// A task group in the serial build has no fibers.
// flags: -DFORKJOIN_SERIAL
// expect: the serial build has no fibers: start what does not wait for others by run

#include "forkjoin/task_group.hpp"

int main() {
  fj::task_group g;
#ifdef FIXED
  g.run([] {});
#else
  g.go([] {});
#endif
  g.wait();
}
