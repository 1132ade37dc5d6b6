// How soon the P of a fiber in a blocking call runs another fiber, and how soon the caller runs again after the call.
// bench/peers/go/handover is the same in Go; bench/peers/handover.py runs both.
//
//   handover <case> <n> <procs>
//
// A fiber starts another one, which is ready on its P from then on, and makes a call of 1 ms at once. A fiber computes
// on each other P and neither forks nor waits, so that no other worker has a P to take the ready fiber. The program
// prints a line for each of n calls: nanoseconds from before the call until the other fiber runs, and from the end of
// the 1 ms until the caller runs again, which has the wake-up of its thread in it. In the case `bare` a thread makes
// the call without any runtime: what the wake-up takes.

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "forkjoin/go.hpp"

namespace {

constexpr long call_ns = 1'000'000;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void sleep_in_kernel() {
  const timespec time{0, call_ns};
  nanosleep(&time, nullptr);
}

// A timer's descriptor: a read that blocks, without another thread that writes.
void read_in_kernel() {
  static const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec once{{0, 0}, {0, call_ns}};
  std::uint64_t times = 0;
  if (timerfd_settime(timer, 0, &once, nullptr) != 0 || read(timer, &times, sizeof(times)) != sizeof(times)) {
    std::perror("handover: timerfd");
    std::exit(1);
  }
}

struct way {
  const char* name;
  void (*call)();
  bool hands_over_now;
};
constexpr way ways[] = {
    {"sleep", sleep_in_kernel, false},  {"sleep_now", sleep_in_kernel, true}, {"read", read_in_kernel, false},
    {"read_now", read_in_kernel, true}, {"bare", sleep_in_kernel, false},
};

struct times {
  std::int64_t to_other, to_caller;
};

times measure_once(const way& by) {
  std::int64_t other = 0, end = 0;
  auto ready = fj::go([&] { other = now(); });
  const std::int64_t begin = now();
  const auto call = [&] {
    end = now() + call_ns;
    by.call();
  };
  by.hands_over_now ? fj::blocking_now(call) : fj::blocking(call);
  const std::int64_t back = now();
  ready.get();
  return {other - begin, back - end};
}

times measure_bare() {
  const std::int64_t end = now() + call_ns;
  sleep_in_kernel();
  return {0, now() - end};
}

void print(const times& each) {
  std::printf("%lld %lld\n", static_cast<long long>(each.to_other), static_cast<long long>(each.to_caller));
}

void measure(const way& by, int n, unsigned procs) {
  std::atomic<unsigned> busy{0};
  std::atomic<bool> over{false};
  std::vector<fj::future<void>> computing;
  for (unsigned i = 1; i < procs; ++i) {
    computing.push_back(fj::go([&] {
      ++busy;
      while (!over.load(std::memory_order_relaxed)) {}
    }));
  }
  while (busy.load() != procs - 1) fj::yield();
  std::vector<times> all;
  for (int i = 0; i < n; ++i) all.push_back(measure_once(by));
  over.store(true);
  for (auto& each : computing) each.get();
  for (const times& each : all) print(each);
}

}  // namespace

int main(int argc, char** argv) {
  const way* const by = std::find_if(std::begin(ways), std::end(ways),
                                     [&](const way& each) { return argc == 4 && !std::strcmp(each.name, argv[1]); });
  const int n = argc == 4 ? std::atoi(argv[2]) : 0, procs = argc == 4 ? std::atoi(argv[3]) : 0;
  if (by == std::end(ways) || n < 1 || procs < 1) {
    std::fprintf(stderr, "usage: handover <case> <n> <procs>; the cases are");
    for (const way& each : ways) std::fprintf(stderr, " %s", each.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  if (!std::strcmp(by->name, "bare")) {
    for (int i = 0; i < n; ++i) print(measure_bare());
    return 0;
  }
  fj::runtime rt({.procs = static_cast<unsigned>(procs)});
  rt.go([&] { measure(*by, n, static_cast<unsigned>(procs)); }).get();
}
