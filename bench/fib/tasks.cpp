// Task stealing, for comparison: with one P, g runs before f, and a join may wait on top of its stack.
#include "bench/fib/forkjoin_team.hpp"

namespace bench {
namespace tasks {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join<fj::tasks>([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

long flat(long count) {
  long leaves = 0;
  for (long i = 0; i < count; ++i) {
    auto [a, b] = fj::fork_join<fj::tasks>([] { return leaf(); }, [] { return leaf(); });
    leaves += a + b;
  }
  return leaves;
}

}  // namespace tasks

std::vector<way> tasks_ways() {
  using tasks_team = forkjoin_team<tasks::fib, tasks::flat>;
  return {{"tasks", true, [](int procs) -> std::unique_ptr<team> { return std::make_unique<tasks_team>(procs); }}};
}

}  // namespace bench
