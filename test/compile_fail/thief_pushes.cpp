// A thief cannot push.
// expect: deque_face

#include "runtime/fork/deque.hpp"

bool push(fj::detail::deque& d, fj::detail::record& r) {
  const auto name = fj::detail::deque::name_of(r);
#ifdef FIXED
  return d.push(r, name);
#else
  return d.for_thieves().push(r, name);
#endif
}

int main() {}
