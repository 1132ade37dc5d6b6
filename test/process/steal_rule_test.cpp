// A library that is built with a steal rule of the user's own (nearest_one.hpp) follows that rule, and still computes.
// Tried with the library's own rule: the first thief visits a random P, and an owner shares half.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "runtime/base/steal_rule.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/scheduler.hpp"

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("does not hold: %s\n", what);
  std::exit(1);
}

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

int main() {
  using fj::detail::current_worker;
  fj::runtime rt({.procs = 4});
  check(rt.run([] { return fib(22); }) == 17711, "fib(22)");
  std::vector<unsigned> visited;
  unsigned mine = 0;
  rt.run([&] {
    mine = current_worker()->proc->index;
    fj::detail::steal_rule::each_victim(*current_worker(), [&](fj::detail::processor& p, fj::detail::deque_thief&) {
      visited.push_back(p.index);
      return true;
    });
  });
  check(visited == std::vector<unsigned>{(mine + 1) % 4, (mine + 2) % 4, (mine + 3) % 4, mine}, "the nearest first");

  // With one P none is stolen: of three open forks the owner makes one public.
  fj::runtime alone({.procs = 1});
  alone.run([] {
    fj::fork_join(
        [] {
          fj::fork_join(
              [] {
                fj::fork_join(
                    [] {
                      auto& d = fj::detail::current_deque();
                      check(d.share() && d.for_thieves().public_count() == 1, "one record becomes public");
                      check(d.share() && d.for_thieves().public_count() == 2, "and then another");
                    },
                    [] {});
              },
              [] {});
        },
        [] {});
  });
  std::printf("ok\n");
}
