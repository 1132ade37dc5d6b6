// A library that is built with a join rule of the user's own (leap_first.hpp) follows that rule at the joins of
// fj::own_join, and still computes. Tried with the rule that there is without a file: the strand leaves its stack, and
// what it could have run on top runs elsewhere.
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "runtime/base/join_rule.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/scheduler.hpp"

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("does not hold: %s\n", what);
  std::exit(1);
}

using first_own = fj::policy<fj::first_child_first, fj::own_join>;
using last_own = fj::policy<fj::last_child_first, fj::own_join>;

template <class Policy>
long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join<Policy>([=] { return fib<Policy>(n - 1); }, [=] { return fib<Policy>(n - 2); });
  return a + b;
}

template <class Policy>
long tree(int depth) {
  if (depth == 0) return 1;
  std::atomic<long> sum{0};
  fj::basic_scope<Policy> children;
  for (int i = 0; i != 3; ++i) children.fork([&sum, depth] { sum += tree<Policy>(depth - 1); });
  children.join();
  return sum;
}

void wait_until(const std::atomic<bool>& flag) {
  while (!flag) fj::detail::os::pause();
}

// A strand waits for a thief that waits for a record of its own. Whether that record runs on the stack of the first.
template <class Policy>
bool runs_on_top(fj::runtime& rt) {
  std::atomic<bool> begun{false}, over{false};
  bool is_here = false;
  rt.run([&] {
    const std::byte here{};
    const auto owners = [&] { wait_until(begun); };
    const auto thiefs = [&] {
      fj::fork_join(
          [&] {
            begun = true;
            wait_until(over);
          },
          [&] {
            const std::byte there{};
            is_here = &there < &here && &here - &there < (64 << 10);
            over = true;
          });
    };
    if constexpr (std::is_same_v<typename Policy::order, fj::first_child_first>) {
      fj::fork_join<Policy>(owners, thiefs);
    } else {
      fj::fork_join<Policy>(thiefs, owners);
    }
  });
  return is_here;
}

std::vector<unsigned> visited_in(unsigned round, unsigned thief) {
  std::vector<unsigned> all;
  fj::detail::join_rule::each_victim(*fj::detail::current_worker(), thief, round,
                                     [&](fj::detail::processor& p, fj::detail::deque_thief&) {
                                       all.push_back(p.index);
                                       return true;
                                     });
  return all;
}

}  // namespace

int main() {
  // Every record is public at once.
  setenv("FORKJOIN_MEMBARRIER", "0", 1);
  setenv("FORKJOIN_FENCE_SIGNAL", "0", 1);
  fj::runtime rt({.procs = 4});
  check(rt.run([] { return fib<first_own>(20); }) == 6765, "fib by the first child first");
  check(rt.run([] { return fib<last_own>(20); }) == 6765, "fib by the last child first");
  check(rt.run([] { return tree<first_own>(7); }) == 2187, "scopes by the first child first");
  check(rt.run([] { return tree<last_own>(7); }) == 2187, "scopes by the last child first");
  rt.run([] {
    check(visited_in(0, 3) == std::vector{3u} && visited_in(7, 1) == std::vector{1u}, "the thief's P first");
    check(visited_in(0, 4).empty(), "none as long as the thief is not known");
    check(visited_in(8, 3).size() == 4, "and then all");
  });
  fj::runtime two({.procs = 2, .stack_size = 256 << 10});
  for (int i = 0; i != 20; ++i) {
    check(runs_on_top<first_own>(two), "the waiting strand runs it on top, by the first child first");
    check(runs_on_top<last_own>(two), "the waiting strand runs it on top, by the last child first");
    check(!runs_on_top<fj::continuations>(two), "by continuations it does not");
  }
  std::printf("ok\n");
}
