// Continuation stealing, the default: f runs at once, and what a thief takes is the rest of the function.
#include "bench/fib/forkjoin_team.hpp"

namespace bench {
namespace continuations {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

long flat(long count) {
  long leaves = 0;
  for (long i = 0; i < count; ++i) {
    auto [a, b] = fj::fork_join([] { return leaf(); }, [] { return leaf(); });
    leaves += a + b;
  }
  return leaves;
}

}  // namespace continuations

std::vector<way> continuations_ways() {
  using continuations_team = forkjoin_team<continuations::fib, continuations::flat>;
  return {{"continuations", true,
           [](int procs) -> std::unique_ptr<team> { return std::make_unique<continuations_team>(procs); }}};
}

}  // namespace bench
