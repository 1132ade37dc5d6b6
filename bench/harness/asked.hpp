// A program that is asked what calls take, one question after another: harness/asked.py asks it.
//
//   <program> <P>
//
// Reads questions, `<kind> <n>` each, and answers each with the nanoseconds of one call, on average. Ends with status 1
// after a wrong result.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

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

/// Team(procs) starts the workers. answer(team, kind, n): below zero for a wrong result, or a kind that there is not.
template <class Team, class Answer>
int answer_all(int argc, char** argv, const Answer& answer) {
  const int procs = argc == 2 ? std::atoi(argv[1]) : 0;
  if (procs < 1) {
    std::fprintf(stderr, "usage: %s <P>, and lines of <kind> <n>\n", argv[0]);
    return 2;
  }
  Team team(procs);
  std::string kind;
  for (std::size_t n = 0; std::cin >> kind >> n;) {
    const double ns = answer(team, kind, n);
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
