// expect: fj::fork_join: the policy is fj::continuations, fj::tasks, or fj::policy<order, join> with

#include "forkjoin/forkjoin.hpp"

struct my_policy {};

int main() {
#ifdef FIXED
  fj::fork_join<fj::tasks>([] {}, [] {});
#else
  fj::fork_join<my_policy>([] {}, [] {});
#endif
}
