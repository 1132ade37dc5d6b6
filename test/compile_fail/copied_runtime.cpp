// expect: delete

#include "forkjoin/forkjoin.hpp"

int main() {
  fj::runtime rt;
#ifdef FIXED
  fj::runtime& other = rt;
#else
  fj::runtime other = rt;
#endif
  other.run([] {});
}
