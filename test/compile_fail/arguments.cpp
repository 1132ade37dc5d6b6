// Calls take no arguments for the function along.
// expect: // a closure takes arguments along: fj::go([=] { f(1, 2); })
// expect: // a closure takes arguments along: fj::run([&] { f(1); })
// expect: // a closure takes arguments along: go([=] { f(1, 2); })
// expect: // a closure takes arguments along: run([&] { f(1); })

#include "forkjoin/go.hpp"

template <class F>
concept takes_arguments = requires(F f, fj::runtime& rt) { fj::go(f, 1, 2); } || requires(F f, fj::runtime& rt) {
  fj::run(f, 42);
} || requires(F f, fj::runtime& rt) { rt.go(f, 1, 2); } || requires(F f, fj::runtime& rt) { rt.run(f, 42); };
static_assert(!takes_arguments<void (*)(int, int)> && !takes_arguments<void (*)(int)>);

int main() {
  fj::runtime rt;
  const auto f = [](int, int) {};
  const auto g = [](int) {};
#ifdef FIXED
  static_cast<void>(fj::go([=] { f(1, 2); }));
  static_cast<void>(rt.go([=] { f(1, 2); }));
  fj::run([&] { g(42); });
  rt.run([&] { g(42); });
#else
  static_cast<void>(fj::go(f, 1, 2));
  static_cast<void>(rt.go(f, 1, 2));
  fj::run(g, 42);
  rt.run(g, 42);
#endif
}
