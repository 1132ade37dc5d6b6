// refused: fj::parallel_for: no integers or random access: first and last must be integers, not characters, or
// random-access iterators refused: fj::fork_each: no integers or random access: first and last must be integers, not
// characters, or random-access iterators

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
