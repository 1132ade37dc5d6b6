// combinable::local returns a handle. Tried without its deleted functions: the messages name no remedy.
// expect: operator T&() const = delete;      // a handle is no value: auto mine = c.local(); ++*mine; or c.with_local(f)
// expect: operator++() const = delete;    // a handle is no value: auto mine = c.local(); ++*mine; or c.with_local(f)
// expect: operator+=(const U&) const = delete;  // a handle is no value: auto mine = c.local(); *mine += x;

#include "forkjoin/forkjoin.hpp"

template <class Handle>
concept counts =
    requires(Handle h) { ++h; } || requires(Handle h) { h += 1; } || requires(Handle h, int& (*f)(int&)) { f(h); };
static_assert(!counts<fj::combinable<int>::handle>);

int main() {
  fj::combinable<int> c;
#ifdef FIXED
  auto mine = c.local();
  int& x = *mine;
  ++*mine;
  *mine += 1;
#else
  int& x = c.local();
  ++c.local();
  c.local() += 1;
#endif
  ++x;
}
