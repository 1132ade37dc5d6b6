// Brief scans and loops that follow each other closely, within the runtime or arena: what one of them takes.
//
//   <program> <P>
//
// Reads questions, `<kind> <n>` each, and answers each with the nanoseconds of one call, on average:
//
//   exclusive   an exclusive scan of n longs
//   inclusive   an inclusive scan of n doubles
//   loop        a loop over n doubles, which takes the root of each
//
// All lengths of a kind use the same type of body: a library that learns what a body costs has to do so for many
// lengths. Ends with status 1 after a wrong result.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Nanoseconds of one of many calls in a row, which take about 20 ms together, but at least three calls.
template <class Call>
double ns_of(const Call& call) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds enough(20);
  call();  // touches the memory, and starts threads
  for (long calls = 3;; calls *= 2) {
    const auto begin = clock::now();
    for (long i = 0; i < calls; ++i) {
      call();
      asm volatile("" : : : "memory");  // each call writes what it computes
    }
    const auto took = clock::now() - begin;
    if (took >= enough) return std::chrono::duration<double, std::nano>(took).count() / static_cast<double>(calls);
  }
}

/// The input of a kind, kept until another length is asked for. Small integers: sums of doubles are exact in any order.
template <class T>
class problem {
 public:
  void set(std::size_t n) {
    if (n != from_.size()) {
      from_.resize(n);
      for (std::size_t i = 0; i < n; ++i) from_[i] = static_cast<T>(i % 7 + 1);
    }
    to_.assign(n, T(-1));
  }

  /// call(from, to, n), and expected(i, from[i]) is what it should write, asked for in order of i.
  template <class Team, class Call, class Expected>
  double measure(Team& team, const Call& call, Expected expected) {
    double ns = 0;
    const T* const from = from_.data();
    T* const to = to_.data();
    team.within([&] { ns = bench::ns_of([&] { call(from, to, from_.size()); }); });
    for (std::size_t i = 0; i < from_.size(); ++i) {
      if (to[i] != expected(from[i])) return -1;
    }
    return ns;
  }

 private:
  std::vector<T> from_;
  std::vector<T> to_;
};

/// Below zero: a wrong result, or a kind that the team does not have.
template <class Team>
double answer(Team& team, const std::string& kind, std::size_t n) {
  static problem<long> longs;
  static problem<double> doubles;
  if constexpr (requires { &Team::exclusive; }) {
    if (kind == "exclusive") {
      longs.set(n);
      return longs.measure(team, &Team::exclusive, [sum = 0L](long x) mutable { return std::exchange(sum, sum + x); });
    }
    if (kind == "inclusive") {
      doubles.set(n);
      return doubles.measure(team, &Team::inclusive, [sum = 0.0](double x) mutable { return sum += x; });
    }
  }
  doubles.set(n);
  return kind == "loop" ? doubles.measure(team, &Team::roots, [](double x) { return std::sqrt(x); }) : -1;
}

/// Team(procs) starts the workers; within(f) calls f in the runtime or arena.
template <class Team>
int answer_all(int argc, char** argv) {
  const int procs = argc == 2 ? std::atoi(argv[1]) : 0;
  if (procs < 1) {
    std::fprintf(stderr, "usage: %s <P>, and lines of <kind> <n>\n", argv[0]);
    return 2;
  }
  Team team(procs);
  std::string kind;
  for (std::size_t n = 0; std::cin >> kind >> n;) {
    const double ns = bench::answer(team, kind, n);
    if (ns < 0) {
      std::fprintf(stderr, "%s %zu: a wrong result, or no such kind\n", kind.c_str(), n);
      return 1;
    }
    std::printf("%.2f\n", ns);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace bench
