// A join alone is no policy. Tried with `class Policy` instead of a_policy in parallel_for: hundreds of lines about members that
// leapfrog lacks.
// refused: fj::fork_join: no fj::policy<order, join>: write
// refused: fj::parallel_invoke: no fj::policy<order, join>: write
// refused: fj::with_scope: no fj::policy<order, join>: write
// refused: fj::fork_each: no fj::policy<order, join>: write
// refused: fj::parallel_for: no fj::policy<order, join>: write
// refused: fj::parallel_for_2d: no fj::policy<order, join>: write
// refused: fj::parallel_for_blocks: no fj::policy<order, join>: write
// expect: is_policy<Policy>;  // fj::continuations, fj::tasks, or fj::policy<order, join>

#include <cstddef>
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
  fj::parallel_for<wrong>(v, [](int) {});
  fj::parallel_for_2d<wrong>(2, 2, [](std::size_t, std::size_t) {});
  fj::parallel_for_blocks<wrong>(v, [](auto, auto) {});
}
