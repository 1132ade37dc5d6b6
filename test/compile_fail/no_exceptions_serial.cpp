// flags: -fno-exceptions -DFORKJOIN_SERIAL
// expect: #error "forkjoin needs exceptions: compile without -fno-exceptions"

#include "forkjoin/forkjoin.hpp"

int main() {
  fj::run([] {});
}
