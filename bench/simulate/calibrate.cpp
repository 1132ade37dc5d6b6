// simulate_calibrate: what the simulation takes for costs, measured by real runs on this machine; prints the JSON that
// simulate --costs reads. Only a quiet machine gives figures to be trusted.
//
// simulate_calibrate --check: measures the heavy fence with 0 to all other processors running, looks at deques, and
// wake-ups, and prints each beside the cost that the simulator has by default. Exit status 3 if one differs by more
// than a factor of two.
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "bench/harness/pin.hpp"
#include "bench/simulate/costs.hpp"
#include "bench/simulate/in_pages.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "runtime/fork/deque.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/os/membarrier.hpp"
#include "runtime/os/thread.hpp"

namespace {

namespace os = fj::detail::os;
using fj::detail::deque;

double median(std::vector<double> of) {
  std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
  return of[of.size() / 2];
}

// Of what other programs on the machine only make longer: the lowest tenth.
double low(std::vector<double> of) {
  const auto tenth = static_cast<std::ptrdiff_t>(of.size() / 10);
  std::nth_element(of.begin(), of.begin() + tenth, of.end());
  return of[static_cast<std::size_t>(tenth)];
}

// Nanoseconds a turn.
template <class Body>
double each(int turns, Body body) {
  std::vector<double> rounds;
  for (int round = 0; round < 15; ++round) {
    const std::int64_t start = os::now_ns();
    for (int i = 0; i < turns; ++i) body();
    rounds.push_back(static_cast<double>(os::now_ns() - start) / turns);
  }
  return median(rounds);
}

// --- forks that no thief steals ---

[[gnu::noinline]] void calls(int depth) {
  asm volatile("");
  if (depth == 0) return;
  calls(depth - 1);
  calls(depth - 1);
}

template <class Policy>
[[gnu::noinline]] void forks(int depth) {
  asm volatile("");
  if (depth == 0) return;
  fj::fork_join<Policy>([depth] { forks<Policy>(depth - 1); }, [depth] { forks<Policy>(depth - 1); });
}

template <class Policy>
double fork_cost() {
  fj::runtime rt(fj::options{.procs = 1});
  constexpr int depth = 16;
  return rt.run([] {
    std::vector<double> rounds;
    for (int i = 0; i < 21; ++i)
      rounds.push_back(each(1, [] { forks<Policy>(depth); }) - each(1, [] { calls(depth); }));
    return std::max(0.0, median(rounds) / ((1 << depth) - 1));
  });
}

// --- the deque's slow paths ---

struct slow_paths {
  double push, pop;
};

slow_paths deque_costs() {
  const simulate::in_pages<deque> memory(64);
  deque& d = *memory;
  d.open(nullptr);
  d.attend();
  constexpr int turns = 20'000;
  bool all = true;
  fj::detail::record r;
  const double fast = each(turns, [&] {
    all &= !d.push(r, deque::name_of(r));
    all &= d.pop(r);
  });
  const double attended = each(turns, [&] {
    all &= !d.push(r, deque::name_of(r));
    d.attend();
    all &= d.pop(r);
  });
  const double locked = each(turns, [&] {
    all &= !d.push(r, deque::name_of(r));
    all &= d.pop(r);
    all &= d.pop_slow(r);
  });
  const double shared = each(turns, [&] {
    all &= !d.push(r, deque::name_of(r));
    d.share();
    static_cast<void>(d.pop(r));
    all &= d.pop_slow(r);
  });
  if (!all) std::fprintf(stderr, "simulate_calibrate: a record was lost\n");
  // To share takes the lock once, as a pop does that finds its record private after all.
  return {std::max(0.0, attended - fast + locked - fast), std::max(0.0, shared - locked)};
}

// --- what another thread is needed for ---

// Measures while `count` others run, each thread on a processor of its own: the system would often put both on one,
// where lines are never far.
template <class Body>
auto while_others(unsigned count, Body runs, auto measure) {
  std::atomic<bool> stop{false};
  std::atomic<unsigned> started{0};
  std::vector<std::thread> others;
  for (unsigned i = 0; i < count; ++i) {
    others.emplace_back([&, i] {
      const bench::pinned here(i + 1);
      started.fetch_add(1, std::memory_order_release);  // release: pairs with the acquire below
      while (!stop.load(std::memory_order_relaxed)) runs();
    });
  }
  const bench::pinned here(0);  // after they were made, because a thread inherits its maker's processors
  // acquire: pairs with the releases above
  while (started.load(std::memory_order_acquire) < count) std::this_thread::yield();
  const auto found = measure();
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& other : others) other.join();
  return found;
}

struct looks {
  double fresh, again;
};

// Nanoseconds of a look: what a thief that goes round reads of each deque (look_around in runtime/sched/find.hpp).
// Fresh: since the last look the owner, on another processor, has pushed and taken back a record. Again: nothing has
// changed. One look does not hang on the one before, so a processor has many misses under way at once, and a look takes
// far less time than a miss.
looks look_costs() {
  std::vector<std::unique_ptr<simulate::in_pages<deque>>> all;
  for (int i = 0; i < 64; ++i) {
    all.push_back(std::make_unique<simulate::in_pages<deque>>(64));
    (**all.back()).open(nullptr);
  }
  std::atomic<int> turn{0};  // 1: the owner's
  const auto fork_in_all = [&] {
    // acquire and release: the turns are in one order, and what is in the deques with them
    if (turn.load(std::memory_order_acquire) == 0) return os::yield_thread();
    fj::detail::record r;
    for (const auto& d : all) {
      static_cast<void>((**d).push(r, deque::name_of(r)));
      static_cast<void>((**d).pop(r));
    }
    turn.store(0, std::memory_order_release);
  };
  return while_others(1, fork_in_all, [&] {
    unsigned seen = 0;
    const auto look_around = [&] {
      const std::int64_t start = os::now_ns();
      for (const auto& d : all) {
        seen += (**d).whose() == nullptr && !(**d).has_public();
        seen += (**d).looks_empty();
        if (!(**d).requested()) (**d).request();
      }
      return static_cast<double>(os::now_ns() - start) / static_cast<double>(all.size());
    };
    std::vector<double> fresh, again;
    for (int i = 0; i < 101; ++i) {
      turn.store(1, std::memory_order_release);
      while (turn.load(std::memory_order_acquire) == 1) os::yield_thread();
      fresh.push_back(look_around());
      again.push_back(look_around());
    }
    if (seen == 0) std::fprintf(stderr, "simulate_calibrate: no deque was empty\n");
    return looks{low(fresh), low(again)};
  });
}

// Nanoseconds of a heavy fence while other threads of the process run on so many processors.
double membarrier_cost(unsigned running) {
  if (!os::membarrier_register()) return 0;
  return while_others(running, [] { os::pause(); }, [] { return each(50, [] { os::membarrier(); }); });
}

unsigned others() { return std::max(1u, std::thread::hardware_concurrency()) - 1; }

struct meetings {
  double wake, wakeup, steal, resume;
};

std::int64_t stamp(const std::atomic<std::int64_t>& of) {
  return of.load(std::memory_order_acquire);  // acquire: pairs with the releases of the sides that stamp
}

void spend(std::int64_t nanoseconds) {
  const std::int64_t until = os::now_ns() + nanoseconds;
  while (os::now_ns() < until) os::pause();
}

// A fork whose right side another P must run, while the left one goes on forking.
void meet(std::vector<double>& to_left, std::vector<double>& to_right) {
  std::atomic<std::int64_t> left{0}, right{0};
  const std::int64_t before = os::now_ns();
  fj::fork_join(
      [&] {
        left.store(os::now_ns(), std::memory_order_release);
        while (stamp(right) == 0) fj::fork_join([] {}, [] {});
      },
      [&] { right.store(os::now_ns(), std::memory_order_release); });
  to_left.push_back(static_cast<double>(stamp(left) - before));
  to_right.push_back(static_cast<double>(stamp(right) - stamp(left)));
}

meetings meeting_costs() {
  fj::runtime rt(fj::options{.procs = 2});
  std::vector<double> wakes, wakeups, forks, steals, resumes;
  for (int i = 0; i < 101; ++i) {
    rt.run([&] {
      // Longer than a worker looks around: it sleeps.
      os::sleep_ns(1'000'000);
      meet(wakes, wakeups);
      for (int k = 0; k < 5; ++k) {
        spend(8'000);  // now the other worker spins; a thief that finds little, as here, waits a little
        meet(forks, steals);
      }
      // The left side is over at once, so its owner waits for the right one and is resumed by it.
      std::atomic<std::int64_t> done{0};
      std::atomic<bool> stolen{false};
      fj::fork_join(
          [&] {
            while (!stolen.load(std::memory_order_relaxed)) fj::fork_join([] {}, [] {});
          },
          [&] {
            stolen.store(true, std::memory_order_relaxed);
            spend(5'000);
            done.store(os::now_ns(), std::memory_order_release);
          });
      resumes.push_back(static_cast<double>(os::now_ns() - stamp(done)));
    });
  }
  const double fork = low(forks), steal = low(steals);
  return {std::max(0.0, low(wakes) - fork), std::max(0.0, low(wakeups) - steal), steal, low(resumes)};
}

// Two fibers on one P that give way to each other: one leaves its stack, and the other goes on. A little more than a
// strand that leaves its stack at a join, because the fiber goes through the ready queue.
double switch_cost() {
  fj::runtime rt(fj::options{.procs = 1});
  return rt.run([] {
    bool over = false;
    auto other = fj::go([&] {
      while (!over) fj::yield();
    });
    const double both = each(1000, [] { fj::yield(); });
    over = true;
    other.get();
    return both / 2;
  });
}

// Whether the simulator's default is within a factor of two of what was measured.
bool agrees(const char* what, double used, double direct) {
  const bool close = used <= 2 * direct && direct <= 2 * used;
  std::printf("%-48s %10.0f %10.0f   %s\n", what, used, direct, close ? "agree" : "DIFFER");
  return close;
}

int check() {
  const simulate::costs used;
  const looks look = look_costs();
  std::printf("%-48s %10s %10s\n", "nanoseconds", "used", "measured");
  for (unsigned running = 0; running < others(); ++running)
    std::printf("heavy fence while %3u other processors run %18s %10.0f\n", running, "", membarrier_cost(running));
  bool all = agrees("heavy fence while all other processors run", used.membarrier, membarrier_cost(others()));
  std::printf("%-48s %10s %10.0f\n", "look at a deque that has not changed", "", look.again);
  all &= agrees("look at a deque whose owner has forked since", used.look, look.fresh);
  const meetings met = meeting_costs();
  all &= agrees("wake-up, for the waker", used.wake, met.wake);
  all &= agrees("wake-up, until the woken worker looks", used.wakeup, met.wakeup);
  all &= agrees("a suspended owner goes on", used.resume, met.resume);
  return all ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::thread::hardware_concurrency() < 2)
    std::fprintf(stderr, "simulate_calibrate: one processor only; what two do together cannot be measured\n");
  if (argc == 2 && std::strcmp(argv[1], "--check") == 0) return check();
  if (argc != 1) {
    std::fprintf(stderr, "usage: simulate_calibrate [--check]\n");
    return 2;
  }
  const slow_paths slow = deque_costs();
  const meetings met = meeting_costs();
  const double look = look_costs().fresh;
  std::printf("{\"costs\": {\n");
  std::printf(" \"fork\": %.2f,\n \"fork_tasks\": %.2f,\n", fork_cost<fj::continuations>(), fork_cost<fj::tasks>());
  std::printf(" \"slow_push\": %.1f,\n \"slow_pop\": %.1f,\n \"look\": %.1f,\n", slow.push, slow.pop, look);
  std::printf(" \"round\": %.1f,\n", each(1000, [] { os::pause(); }));
  // From the left side's beginning to the right one's: the thief sees the record, its owner answers the request.
  std::printf(" \"steal\": %.1f,\n", std::max(0.0, met.steal - slow.push - 2 * look));
  // Both switch stacks. The second is on the thief's processor, to which the stack's lines have to come; the thief's
  // exchange at the join is within it.
  std::printf(" \"suspend\": %.1f,\n \"resume\": %.1f,\n \"arrive\": 0,\n", switch_cost(), met.resume);
  std::printf(" \"membarrier\": %.0f,\n \"wake\": %.0f,\n \"wakeup\": %.0f\n}}\n", membarrier_cost(others()), met.wake,
              met.wakeup);
  return 0;
}
