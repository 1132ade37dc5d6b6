// What a theft and a fork cost on this machine, in nanoseconds: prints {"theft_ns": ..., "fork_ns": ...}. With an argument it only computes, for
// some 50 ms, and prints to standard error how many nanoseconds that took. forkjoin-profile compiles and runs it.
#include <forkjoin/forkjoin.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Other programs on the machine only make it longer.
double lowest_twentieth(std::vector<double> of) {
  std::ranges::sort(of);
  return of[of.size() / 20];
}

void spend(double ns) {
  const double until = now_ns() + ns;
  while (now_ns() < until) {}
}

/// By how much a fork of two branches of this length takes longer than one of them: a thief finds the second, runs it, and tells the join.
double theft() {
  constexpr double length = 20'000;
  fj::runtime rt({.procs = 2});
  std::vector<double> all;
  rt.run([&] {
    for (int i = 0; i != 3000; ++i) {
      const double begin = now_ns();
      fj::fork_join([] { spend(length); }, [] { spend(length); });
      all.push_back(now_ns() - begin - length);
    }
  });
  return lowest_twentieth(all);
}

[[gnu::noinline]] void calls(int depth) {
  asm volatile("");
  if (depth == 0) return;
  calls(depth - 1);
  calls(depth - 1);
}

[[gnu::noinline]] void forks(int depth) {
  asm volatile("");
  if (depth == 0) return;
  fj::fork_join([depth] { forks(depth - 1); }, [depth] { forks(depth - 1); });
}

/// By how much a fork that no thief takes takes longer than two calls.
double fork_and_join() {
  constexpr int depth = 14;
  fj::runtime rt({.procs = 1});
  std::vector<double> all;
  rt.run([&] {
    for (int i = 0; i != 50; ++i) {
      const double begin = now_ns();
      calls(depth);
      const double between = now_ns();
      forks(depth);
      all.push_back((now_ns() - between - (between - begin)) / ((1 << depth) - 1));
    }
  });
  return std::max(0.0, lowest_twentieth(all));
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    const double begin = now_ns();
    std::uint64_t x = 88172645463325252u;
    for (int i = 0; i != 30'000'000; ++i) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    asm volatile("" : : "r"(x));
    std::fprintf(stderr, "%.0f\n", now_ns() - begin);
    return 0;
  }
  std::printf("{\"theft_ns\": %.1f, \"fork_ns\": %.2f}\n", theft(), fork_and_join());
}
