// A join alone is no policy. Tried with `class Policy` instead of a_policy in fork_each: many lines about members that
// leapfrog lacks.
// refused: fj::fork_join: no fj::policy<order, join>: write
// refused: fj::parallel_invoke: no fj::policy<order, join>: write
// refused: fj::with_scope: no fj::policy<order, join>: write
// refused: fj::fork_each: no fj::policy<order, join>: write
// expect: is_policy<Policy>;  // fj::continuations, fj::tasks, or fj::policy<order, join>

#include <vector>

#include "forkjoin/forkjoin.hpp"

#ifdef FIXED
using wrong = fj::policy<fj::first_child_first, fj::leapfrog>;
#else
using wrong = fj::leapfrog;
#endif

template <class Policy>
concept forks = requires { fj::fork_join<Policy>([] {}, [] {}); };
template <class Policy>
concept scopes = requires { typename fj::basic_scope<Policy>; };
static_assert(forks<fj::tasks> && !forks<fj::leapfrog> && scopes<fj::tasks> && !scopes<fj::leapfrog>);

int main() {
  std::vector<int> v(3);
  const auto f = [] {};
  fj::fork_join<wrong>(f, f);
  fj::parallel_invoke<wrong>(f, f);
  fj::with_scope<wrong>([](auto& s) { s.fork([] {}); });
  fj::run([] { fj::basic_scope<wrong> s; });
  fj::fork_each<wrong>(v, [](int) {});
}
