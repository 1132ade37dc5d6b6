// Exceptions through everything that forks, on stolen and unstolen strands: the serial program's exception arrives, and
// it leaves every frame. throwing_test.py builds this in several ways.
#include <cstdio>

#include "test/process/throwing.hpp"

using throwing::failure;
using throwing::thrower;

long throwing::in_program(int depth, long number, thrower bad, std::atomic<long>& alive) {
  return leaves<in_library>(depth, number, bad, alive);
}

namespace {

constexpr int depth = 7;
constexpr long all = 1L << depth;

// The number of the leaf whose exception arrives, or -1. A number from a tree that should not throw counts as wrong,
// too.
long first_thrown(thrower bad, std::atomic<long>& alive) {
  try {
    return throwing::in_program(depth, 0, bad, alive) == all ? -1 : -2;
  } catch (const failure& f) {
    return f.leaf;
  }
}

long wrong_with(unsigned procs, bool steal_every_fork, int rounds) {
  fj::options chosen;
  chosen.procs = procs;
  chosen.steal_every_fork = steal_every_fork;
  fj::runtime rt(chosen);
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const long every : {0L, 1L, 2L, 7L, 50L, all}) {
      const thrower bad{every == 0 ? 0 : round * 37 % every, every};
      const long wanted = every == 0 ? -1 : bad.first;
      std::atomic<long> alive{0};
      const long found = rt.run([&] { return first_thrown(bad, alive); });
      if (found == wanted && alive == 0) continue;
      std::printf("P = %u%s, every %ld: leaf %ld instead of %ld, %ld frames not left\n", procs,
                  steal_every_fork ? ", every fork stolen" : "", every, found, wanted, alive.load());
      ++wrong;
    }
  }
  return wrong;
}

}  // namespace

int main() {
  long wrong = 0;
  for (const unsigned procs : {1u, 2u, 8u}) {
    wrong += wrong_with(procs, false, 20);
    wrong += wrong_with(procs, true, 5);
  }
  return wrong == 0 ? 0 : 1;
}
