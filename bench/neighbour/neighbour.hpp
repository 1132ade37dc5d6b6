// A program whose runs are timed, one after another:
//
//   <program> fib <n> <P> <ms>        recursive Fibonacci numbers, a fork for every call with n > 1
//   <program> loop <iterations> <P> <ms>  a parallel loop whose iterations compute for about a microsecond each, all
//                                         equally long
//   <program> sort <n> <P> <ms>       sorts n numbers in random order, by the library's own sort
//
// Prints the microseconds of each run, one a line. Runs begin until so many milliseconds have passed. A first run is
// not timed. Ends with status 1 after a wrong result.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// A chain of multiplications: about a microsecond.
inline unsigned long iteration(unsigned long x) {
  for (int i = 0; i < 900; ++i) {
    x = x * 6364136223846793005ul + 1;
    asm volatile("" : "+r"(x));
  }
  return x;
}

using clock = std::chrono::steady_clock;

/// prepare() is not timed, run() is, and holds() says whether its result is right.
template <class Prepare, class Run, class Holds>
bool repeat(int ms, const Prepare& prepare, const Run& run, const Holds& holds) {
  std::vector<double> took;
  const auto once = [&] {
    prepare();
    const auto begin = clock::now();
    run();
    took.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    return holds();
  };
  if (!once()) return false;
  took.clear();
  const auto end = clock::now() + std::chrono::milliseconds(ms);
  do {
    if (!once()) return false;
  } while (clock::now() < end);
  for (const double us : took) std::printf("%.2f\n", us);
  return true;
}

template <class Team>
bool repeat_fib(Team& team, int n, int ms) {
  long expected = 0;
  for (long i = 0, next = 1; i < n; ++i) expected = std::exchange(next, expected + next);
  long found = 0;
  return bench::repeat(ms, [] {}, [&] { found = team.fib(n); }, [&] { return found == expected; });
}

template <class Team>
bool repeat_loop(Team& team, std::size_t iterations, int ms) {
  std::vector<unsigned long> expected(iterations);
  std::vector<unsigned long> found(iterations);
  for (std::size_t i = 0; i < iterations; ++i) expected[i] = bench::iteration(i);
  return bench::repeat(
      ms, [&] { std::fill(found.begin(), found.end(), 0); },
      [&] { team.loop(iterations, [to = found.data()](std::size_t i) { to[i] = bench::iteration(i); }); },
      [&] { return found == expected; });
}

template <class Team>
bool repeat_sort(Team& team, std::size_t n, int ms) {
  std::vector<long> shuffled(n);
  std::iota(shuffled.begin(), shuffled.end(), 0);
  const std::vector<long> expected = shuffled;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(1));
  std::vector<long> numbers;
  return bench::repeat(
      ms, [&] { numbers = shuffled; }, [&] { team.sort(numbers); }, [&] { return numbers == expected; });
}

/// Team(procs) starts the workers.
template <class Team>
int repeat_runs(int argc, char** argv) {
  const std::string what = argc == 5 ? argv[1] : "";
  const int size = argc == 5 ? std::atoi(argv[2]) : 0, procs = argc == 5 ? std::atoi(argv[3]) : 0;
  if (size < 1 || procs < 1 || (what != "fib" && what != "loop" && what != "sort")) {
    std::fprintf(stderr, "usage: %s fib|loop|sort <size> <P> <ms>\n", argv[0]);
    return 2;
  }
  const int ms = std::atoi(argv[4]);
  Team team(procs);
  const bool is_right = what == "fib"    ? bench::repeat_fib(team, size, ms)
                        : what == "loop" ? bench::repeat_loop(team, static_cast<std::size_t>(size), ms)
                                         : bench::repeat_sort(team, static_cast<std::size_t>(size), ms);
  if (!is_right) std::fprintf(stderr, "%s %d: a wrong result\n", what.c_str(), size);
  return !is_right;
}

}  // namespace bench
