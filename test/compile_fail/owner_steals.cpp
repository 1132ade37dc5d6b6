// An owner takes its records back by a pop, not by a steal. Tried with public inheritance of the owner's view:
// compiles.
// expect: steal

#include "runtime/fork/deque.hpp"

fj::detail::stolen_record oldest(fj::detail::deque& d) {
#ifdef FIXED
  return d.for_thieves().steal(nullptr);
#else
  return d.steal(nullptr);
#endif
}

int main() {}
