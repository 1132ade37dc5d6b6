// simulate_calibrate: what the simulation takes for costs, measured by real runs on this machine; prints the JSON that
// simulate --costs reads. Only a quiet machine gives figures to be trusted.
#include <forkjoin/forkjoin.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <thread>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "runtime/fork/deque.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/os/membarrier.hpp"
#include "runtime/os/pages.hpp"
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
  constexpr deque::index capacity = 64;
  std::byte* const memory = os::reserve_pages(os::round_to_pages(sizeof(deque) + capacity * sizeof(deque::slot)));
  if (!memory) throw std::bad_alloc();
  deque& d = *new (memory) deque(capacity, false);
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
  const double published = each(turns, [&] {
    all &= !d.push(r, deque::name_of(r));
    d.publish();
    static_cast<void>(d.pop(r));
    all &= d.pop_slow(r);
  });
  if (!all) std::fprintf(stderr, "simulate_calibrate: a record was lost\n");
  os::release_pages(memory, os::round_to_pages(sizeof(deque) + capacity * sizeof(deque::slot)));
  // To publish takes the lock once, as a pop does that finds its record private after all.
  return {std::max(0.0, attended - fast + locked - fast), std::max(0.0, published - locked)};
}

// --- what another thread is needed for ---

// A line that another thread has written.
struct alignas(fj::detail::cache_line) line {
  std::atomic<std::uint64_t> value{0};
};

template <class Body>
auto while_another(Body runs, auto measure) {
  std::atomic<bool> stop{false};
  std::atomic<bool> started{false};
  std::thread other([&] {
    started.store(true, std::memory_order_release);  // release: pairs with the acquire below
    while (!stop.load(std::memory_order_relaxed)) runs();
  });
  // acquire: pairs with the release above
  while (!started.load(std::memory_order_acquire)) std::this_thread::yield();
  const auto found = measure();
  stop.store(true, std::memory_order_relaxed);
  other.join();
  return found;
}

double look_cost() {
  std::vector<line> lines(512);
  std::atomic<int> turn{0};  // 1: the other thread's
  const auto write_all = [&] {
    // acquire and release: the turns are in one order, and the lines' values with them
    if (turn.load(std::memory_order_acquire) == 0) return os::yield_thread();
    for (line& l : lines) l.value.store(0, std::memory_order_relaxed);
    turn.store(0, std::memory_order_release);
  };
  return while_another(write_all, [&] {
    std::vector<double> rounds;
    std::size_t at = 0;
    for (int i = 0; i < 101; ++i) {
      turn.store(1, std::memory_order_release);
      while (turn.load(std::memory_order_acquire) == 1) os::yield_thread();
      const std::int64_t start = os::now_ns();
      // Where the next line is hangs on the value of this one, 0, so that one comes after the other.
      for (std::size_t k = 0; k < lines.size(); ++k)
        at = (at + 7 + lines[at].value.load(std::memory_order_relaxed)) % lines.size();
      rounds.push_back(static_cast<double>(os::now_ns() - start) / static_cast<double>(lines.size()));
    }
    return low(rounds);
  });
}

double membarrier_cost() {
  if (!os::membarrier_register()) return 0;
  return while_another([] { os::pause(); }, [] { return each(20, [] { os::membarrier(); }); });
}

struct meetings {
  double wake, wakeup, steal, resume;
};

std::int64_t stamp(const std::atomic<std::int64_t>& of) {
  return of.load(std::memory_order_acquire);  // pairs with the releases of those who stamp
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
        spend(8'000);  // now it spins; and who finds little, as here, waits a little
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

}  // namespace

int main() {
  if (std::thread::hardware_concurrency() < 2)
    std::fprintf(stderr, "simulate_calibrate: one processor only; what two do together cannot be measured\n");
  const slow_paths slow = deque_costs();
  const meetings met = meeting_costs();
  const double look = look_cost();
  std::printf("{\"costs\": {\n");
  std::printf(" \"fork\": %.2f,\n \"fork_tasks\": %.2f,\n", fork_cost<fj::continuations>(), fork_cost<fj::tasks>());
  std::printf(" \"slow_push\": %.1f,\n \"slow_pop\": %.1f,\n \"look\": %.1f,\n", slow.push, slow.pop, look);
  std::printf(" \"round\": %.1f,\n", each(1000, [] { os::pause(); }));
  // From the left side's beginning to the right one's: the thief sees the record, its owner answers the alarm.
  std::printf(" \"steal\": %.1f,\n", std::max(0.0, met.steal - slow.push - 2 * look));
  // Both a switch of stacks; the thief's exchange at the join is within the second.
  std::printf(" \"suspend\": %.1f,\n \"resume\": %.1f,\n \"arrive\": 0,\n", met.resume, met.resume);
  std::printf(" \"membarrier\": %.0f,\n \"wake\": %.0f,\n \"wakeup\": %.0f\n}}\n", membarrier_cost(), met.wake,
              met.wakeup);
  return 0;
}
