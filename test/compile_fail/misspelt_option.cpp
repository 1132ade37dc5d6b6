// No overload can take an unknown designator. But compilers name the type of the options, and show the line of the
// loop, which ends with the known options.
// expect: loop_options
// expect: // .grain, .stop

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  fj::parallel_for(0, 10, [](int) {}, {.grain = 64});
#else
  fj::parallel_for(0, 10, [](int) {}, {.grian = 64});
#endif
}
