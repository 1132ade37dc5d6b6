// Threads outside of any runtime that have some work done in parallel, again and again: what a call takes.
//
//   <program> <pause in us> <calls> <P> [<work of a branch in us>]
//   <program> loops <threads> <elements> <ms> <P>
//
// The first has one thread that calls after pauses. A call has two branches of so much work (default 20 us). Prints
// `call_us` (the median), `cpu_us` (of the whole process for a call and the pause before it, on average), `work_us` (of
// a branch, by itself) and `wrong` (calls in which not both branches ran once).
//
// The second has so many threads that each call loops of so many cheap elements, one loop after another, for so long.
// Prints `call_us` (the time over the calls of all threads), `cpu_us` (of the whole process for a call), `switches`
// (times that a thread slept, for 1,000 calls) and `wrong` (elements that were not run once in each call).
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace bench {

inline double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double cpu_us() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return us(used.ru_utime) + us(used.ru_stime);
}

/// A branch: a chain of multiplications, whose length has been found by the clock.
class branch_work {
 public:
  explicit branch_work(double us) {
    spin(100'000);  // the clock of the processor rises
    double least = 1e9;
    for (int i = 0; i < 20; ++i) {
      const double begin = now_us();
      spin(10'000);
      least = std::min(least, now_us() - begin);
    }
    turns_ = static_cast<long>(10'000 * us / least);
  }

  void operator()() const {
    spin(turns_);
    ran_.fetch_add(1, std::memory_order_relaxed);
  }

  unsigned ran() const { return ran_.exchange(0, std::memory_order_relaxed); }

 private:
  static void spin(long turns) {
    unsigned long x = 1;
    for (long i = 0; i < turns; ++i) {
      x = x * 6364136223846793005ul + 1;
      asm volatile("" : "+r"(x));
    }
  }

  long turns_ = 0;
  mutable std::atomic<unsigned> ran_{0};
};

inline void pause_for(long us) {
  const timespec time{us / 1'000'000, us % 1'000'000 * 1000};
  if (us > 0) nanosleep(&time, nullptr);
}

inline long sleeps() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

template <class Team>
int measure_loops(Team& team, unsigned threads, std::size_t elements, long ms) {
  std::atomic<bool> over{false};
  std::atomic<long> calls{0}, wrong{0};
  std::barrier begin(static_cast<std::ptrdiff_t>(threads) + 1);
  std::vector<std::thread> callers;
  for (unsigned t = 0; t < threads; ++t) {
    callers.emplace_back([&] {
      std::vector<unsigned> data(elements);
      unsigned* const first = data.data();
      const auto call = [&] { team.loop(elements, [first](std::size_t i) { ++first[i]; }); };
      unsigned before = 0, own = 0;
      for (; before < 100; ++before) call();
      begin.arrive_and_wait();
      for (; !over.load(std::memory_order_relaxed); ++own) call();
      calls += own;
      wrong += std::count_if(data.begin(), data.end(), [&](unsigned times) { return times != before + own; });
    });
  }
  begin.arrive_and_wait();
  const double began = now_us();
  const double cpu_before = cpu_us();
  const long slept = sleeps();
  pause_for(ms * 1000);
  over = true;
  for (std::thread& caller : callers) caller.join();
  const double took = now_us() - began;
  const auto all = static_cast<double>(calls.load());
  std::printf("call_us %.3f\ncpu_us %.3f\nswitches %.2f\nwrong %ld\n", took / all, (cpu_us() - cpu_before) / all,
              1000 * static_cast<double>(sleeps() - slept) / all, wrong.load());
  return wrong != 0;
}

/// Team(procs) starts the workers; call(work) runs two branches, loop(n, body) a loop, if the team has any.
template <class Team>
int measure_calls(int argc, char** argv) {
  const auto number = [&](int i, long otherwise) { return argc > i ? std::atol(argv[i]) : otherwise; };
  if constexpr (requires(Team& team) { team.loop(1, [](std::size_t) {}); }) {
    if (argc == 6 && std::strcmp(argv[1], "loops") == 0 && number(2, 0) > 0 && number(3, 0) > 0 && number(4, 0) > 0 &&
        number(5, 0) > 0) {
      Team team(static_cast<int>(number(5, 0)));
      return measure_loops(team, static_cast<unsigned>(number(2, 0)), static_cast<std::size_t>(number(3, 0)),
                           number(4, 0));
    }
  }
  const long pause = number(1, -1), calls = number(2, 0), procs = number(3, 0), us = number(4, 20);
  if (pause < 0 || calls < 1 || procs < 1 || us < 1) {
    std::fprintf(stderr,
                 "usage: %s <pause in us> <calls> <P> [<work of a branch in us>]\n       %s loops <threads> <elements> "
                 "<ms> <P>\n",
                 argv[0], argv[0]);
    return 2;
  }
  const branch_work work(static_cast<double>(us));
  Team team(static_cast<int>(procs));
  for (int i = 0; i < 100; ++i) team.call(work);
  static_cast<void>(work.ran());
  std::vector<double> took;
  long wrong = 0;
  const double cpu_before = cpu_us();
  for (long i = 0; i < calls; ++i) {
    pause_for(pause);
    const double begin = now_us();
    team.call(work);
    took.push_back(now_us() - begin);
    wrong += work.ran() != 2;
  }
  const double cpu = (cpu_us() - cpu_before) / static_cast<double>(calls);
  std::nth_element(took.begin(), took.begin() + calls / 2, took.end());
  const double begin = now_us();
  for (int i = 0; i < 100; ++i) work();
  std::printf("call_us %.2f\ncpu_us %.2f\nwork_us %.2f\nwrong %ld\n", took[static_cast<std::size_t>(calls / 2)], cpu,
              (now_us() - begin) / 100, wrong);
  return wrong != 0;
}

}  // namespace bench
