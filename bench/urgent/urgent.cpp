// How soon a fiber goes on that becomes ready beside strands that compute and fork, if it is urgent and if it is not.
//
//   urgent <waker> <n> <procs> [busy] [us]
//
// So many fibers, `busy` (20), compute and fork, and come to a fork every `us` (200) microseconds. One more fiber
// waits, and is woken about every millisecond, n times: by its timer (`timer`); by a thread outside of the runtime that
// sends a value (`thread`), sets a promise (`promise`) or writes into a pipe (`pipe`); or by one of the busy fibers
// (`strand`); or ten at once are, by a busy fiber (`burst`). For `none`, `plain` and `urgent`, which say what the fiber
// is, the program prints a line: how late it went on, in microseconds, as the median, the 99th percentile and the most;
// and how many steps of `us` each P made in a second. If busy fibers wake it, they do so for 5 ms times n at most.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

namespace {

using steady = std::chrono::steady_clock;
using number = std::int64_t;

constexpr std::chrono::milliseconds between_wakes(1);
constexpr std::chrono::milliseconds most_for_a_wake(5);  // a fiber that is not urgent may wait for 20 slices each time
constexpr std::chrono::milliseconds settles(100);

number now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(steady::now().time_since_epoch()).count();
}

void turn(number times) {
  for (number i = 0; i < times; ++i) asm volatile("" : : : "memory");
}

// How many turns take a microsecond: the most of some trials, as other programs take the processor at times.
number turns_per_us() {
  constexpr number turns = 1'000'000;
  number least_ns = turns;
  for (int trial = 0; trial < 10; ++trial) {
    const number begin = now_ns();
    turn(turns);
    least_ns = std::min(least_ns, now_ns() - begin);
  }
  return std::max<number>(1, turns * 1000 / least_ns);
}

enum class waker { timer, thread, promise, pipe, strand, burst };

struct setting {
  waker by;
  number wakes;
  unsigned procs;
  number busy;
  number step_turns;
};

// What a strand that computes does beside that, after each step.
class bell {
 public:
  bell(number ring_every_ns, unsigned listeners) : every_ns_(ring_every_ns), listeners_(listeners) {}

  // The time at which it rang, to each listener, if it was due.
  void ring_if_due() {
    number due = due_at_.load(std::memory_order_relaxed);
    const number now = now_ns();
    if (now < due || !due_at_.compare_exchange_strong(due, now + every_ns_, std::memory_order_relaxed)) return;
    for (unsigned i = 0; i < listeners_; ++i) static_cast<void>(rings.try_send(now_ns()));
  }

  fj::channel<number> rings{0};

 private:
  const number every_ns_;
  const unsigned listeners_;
  std::atomic<number> due_at_{0};
};

struct result {
  std::vector<number> late;  // nanoseconds
  double steps_per_second = 0;
};

void listen(const fj::channel<number>& rings, std::vector<number>& late, number wakes) {
  while (static_cast<number>(late.size()) < wakes) {
    const auto rang = rings.receive();
    if (!rang) return;
    late.push_back(now_ns() - *rang);
  }
}

// This thread wakes the one fiber that listens, by a way of its own for each waker from outside.
void wake_from_outside(fj::runtime& rt, const setting& s, bool urgent, std::vector<number>& late) {
  std::vector<fj::promise<number>> promises(s.by == waker::promise ? static_cast<std::size_t>(s.wakes) : 0);
  std::vector<fj::future<number>> futures;
  for (auto& each : promises) futures.push_back(each.get_future());
  fj::channel<number> values{0};
  int ends[2] = {-1, -1};
  if (s.by == waker::pipe && pipe(ends)) {
    std::perror("urgent: pipe");
    std::exit(1);
  }
  const fj::descriptor from = s.by == waker::pipe ? fj::descriptor(ends[0]) : fj::descriptor();
  const fj::descriptor into = s.by == waker::pipe ? fj::descriptor(ends[1]) : fj::descriptor();
  fj::future<void> listens = rt.go({.urgent = urgent}, [&] {
    for (std::size_t i = 0; i < static_cast<std::size_t>(s.wakes); ++i) {
      number rang = 0;
      if (s.by == waker::promise) {
        rang = futures[i].get();
      } else if (s.by == waker::pipe) {
        fj::read(from, &rang, sizeof rang);
      } else {
        rang = *values.receive();
      }
      late.push_back(now_ns() - rang);
    }
  });
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.wakes); ++i) {
    std::this_thread::sleep_for(between_wakes);
    const number now = now_ns();
    if (s.by == waker::promise) {
      promises[i].set_value(now);
    } else if (s.by == waker::pipe) {
      fj::write(into, &now, sizeof now);
    } else {
      values.send(now);
    }
  }
  listens.get();
}

result measure(const setting& s, bool wakes, bool urgent) {
  fj::runtime rt({.procs = s.procs});
  const unsigned listeners = s.by == waker::burst ? 10 : 1;
  const bool rings = wakes && (s.by == waker::strand || s.by == waker::burst);
  std::atomic<bool> over{false};
  std::atomic<number> steps{0};
  bell bell(std::chrono::nanoseconds(between_wakes).count(), listeners);
  std::vector<fj::future<void>> busy;
  for (number i = 0; i < s.busy; ++i) {
    busy.push_back(rt.go([&] {
      while (!over.load(std::memory_order_relaxed)) {
        fj::fork_join([&] { turn(s.step_turns / 2); }, [&] { turn(s.step_turns / 2); });
        steps.fetch_add(1, std::memory_order_relaxed);
        if (rings) bell.ring_if_due();
      }
    }));
  }
  std::this_thread::sleep_for(settles);
  const number first_steps = steps, first_ns = now_ns();
  std::vector<std::vector<number>> late(listeners);
  std::vector<fj::future<void>> listening;
  if (!wakes) {
    std::this_thread::sleep_for(between_wakes * s.wakes);
  } else if (s.by == waker::timer) {
    rt.go({.urgent = urgent}, [&] {
        for (number i = 0; i < s.wakes; ++i) {
          const auto at = steady::now() + between_wakes;
          fj::sleep_until(at);
          late[0].push_back((steady::now() - at).count());
        }
      }).get();
  } else if (!rings) {
    wake_from_outside(rt, s, urgent, late[0]);
  } else {
    for (auto& each : late) {
      each.reserve(static_cast<std::size_t>(s.wakes));
      listening.push_back(rt.go({.urgent = urgent}, [&] { listen(bell.rings, each, s.wakes); }));
    }
    const auto end = steady::now() + s.wakes * most_for_a_wake;
    for (auto& each : listening)
      if (!each.wait_until(end)) break;
  }
  result measured;
  measured.steps_per_second = static_cast<double>(steps - first_steps) * 1e9 / static_cast<double>(now_ns() - first_ns);
  over = true;
  for (auto& each : busy) each.get();
  bell.rings.close();
  for (auto& each : listening) each.get();
  for (const auto& each : late) measured.late.insert(measured.late.end(), each.begin(), each.end());
  std::sort(measured.late.begin(), measured.late.end());
  return measured;
}

void print(const char* what, const result& r, unsigned procs) {
  const auto late = [&](double part) {
    if (r.late.empty()) return 0.0;
    const auto at = static_cast<std::size_t>(part * static_cast<double>(r.late.size()));
    return static_cast<double>(r.late[std::min(at, r.late.size() - 1)]) / 1000;
  };
  std::printf("%-6s  late by us: p50 %.1f, p99 %.1f, most %.1f; steps a second on each P: %.1f\n", what, late(0.5),
              late(0.99), late(1), r.steps_per_second / procs);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr const char* wakers[] = {"timer", "thread", "promise", "pipe", "strand", "burst"};
  const auto number_at = [&](int i, number otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  const auto* const by = std::find_if(std::begin(wakers), std::end(wakers),
                                      [&](const char* each) { return argc > 1 && !std::strcmp(each, argv[1]); });
  const number wakes = number_at(2, 0), procs = number_at(3, 0), busy = number_at(4, 20), us = number_at(5, 200);
  if (by == std::end(wakers) || argc > 6 || wakes < 1 || procs < 1 || procs > 4096 || busy < 0 || us < 1) {
    std::fprintf(stderr, "usage: urgent timer|thread|promise|pipe|strand|burst <n> <procs> [busy] [us]\n");
    return 2;
  }
  const setting s{.by = static_cast<waker>(by - wakers),
                  .wakes = wakes,
                  .procs = static_cast<unsigned>(procs),
                  .busy = busy,
                  .step_turns = us * turns_per_us()};
  if (busy == 0 && s.by >= waker::strand) {
    std::fprintf(stderr, "urgent: a busy fiber is the waker, so there must be one\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  print("none", measure(s, false, false), s.procs);
  print("plain", measure(s, true, false), s.procs);
  print("urgent", measure(s, true, true), s.procs);
}
