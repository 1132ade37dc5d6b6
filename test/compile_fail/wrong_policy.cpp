// expect: fj::fork_join: the policy is fj::continuations or fj::tasks

#include "forkjoin/forkjoin.hpp"

struct my_policy {};

int main() {
#ifdef FIXED
  fj::fork_join<fj::tasks>([] {}, [] {});
#else
  fj::fork_join<my_policy>([] {}, [] {});
#endif
}
