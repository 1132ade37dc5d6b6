// expect: fj::parallel_for: first and last must be integers, not characters, or random-access iterators
// expect: fj::fork_each: first and last must be integers, not characters, or random-access iterators

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  const signed char first = 'a', last = 'z';
#else
  const char first = 'a', last = 'z';
#endif
  fj::parallel_for(first, last, [](auto) {});
  fj::fork_each(first, last, [](auto) {});
}
