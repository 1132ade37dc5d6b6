// The handle dies at the semicolon. Another strand may then have the value. Tried with operators that any handle has:
// compiles, and counts get lost when the rest of a fork is stolen.
// expect: T& operator*() const&& = delete;   // use c.with_local(f), or name the handle
// expect: T* operator->() const&& = delete;  // use c.with_local(f), or name the handle
// expect: fj::combinable::with_local: the function must not return a reference

#include <utility>

#include "forkjoin/forkjoin.hpp"

int main() {
  fj::combinable<std::pair<int, int>> c;
#ifdef FIXED
  auto mine = c.local();
  ++mine->first;
  *mine = {};
  c.with_local([](auto& one) { return ++one.first; });
#else
  auto& mine = *c.local();
  ++c.local()->first;
  mine = {};
  c.with_local(&std::pair<int, int>::first);
#endif
}
