// A thief's view does not lead to the owner's, not even by a cast. Tried with public inheritance of the owner's view:
// compiles.
// expect: deque_thief
// expect: base

#include "runtime/fork/deque.hpp"

fj::detail::deque& victim(fj::detail::deque& owners) {
#ifdef FIXED
  return owners;
#else
  return static_cast<fj::detail::deque&>(owners.for_thieves());
#endif
}

int main() {}
