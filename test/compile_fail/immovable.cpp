// A result that cannot be moved cannot leave the frame where it was made.
// expect: fj::fork_join: what a closure returns must be movable, to get into the tuple; return a std::unique_ptr to it
// expect: fj::run: what the function returns must be movable, to leave the runtime; return a std::unique_ptr to it
// expect: fj::runtime_ref::run: what the function returns must be movable, to leave the runtime; return a std::unique_ptr to it
// expect: fj::with_scope: what the body returns must be movable
// refused: fj::parallel_reduce: the initial value cannot move: it must be movable, as all results are; take a
// std::unique_ptr to one

#include <vector>

#include "forkjoin/forkjoin.hpp"

struct result {
  result() = default;
#ifndef FIXED
  result(result&&) = delete;
#endif
  result operator()(const result&, const result&) const { return {}; }
};

int main() {
  fj::fork_join([] { return result(); }, [] { return 1; });
  fj::run([] { return result(); });
  fj::runtime().run([] { return result(); });
  fj::this_runtime().run([] { return result(); });
  fj::with_scope([](fj::scope&) { return result(); });
#ifdef FIXED
  using reducing = result;
#else
  struct reducing : result {};
#endif
  (void)fj::parallel_reduce(std::vector<result>(0), reducing(), result());
}
