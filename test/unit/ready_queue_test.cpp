// The order in which workers take entries from the ready queue (runtime/sched/queues.hpp): the markers of waiting
// fibers, and fibers that go on soon because a timer, the poller or a thread outside woke them.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "forkjoin/run.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/queues.hpp"
#include "test/support.hpp"

namespace {

int leaves(int depth) {
  if (depth == 0) return 1;
  const auto [left, right] = fj::fork_join([&] { return leaves(depth - 1); }, [&] { return leaves(depth - 1); });
  return left + right;
}

}  // namespace

// With every fork stolen, each strand but those of leaves waits at its first join, with older records in its deque.
// Tried with markers that workers take in the order in which these were pushed: 2,049 stacks and more.
TEST_CASE("ready queue: if every fork is stolen, a fork tree needs stacks for its depth, not for its breadth") {
  constexpr int depth = 12;
  for (const unsigned p : test::procs_to_try) {
    const test::watchdog dog("stacks of a fork tree", p);
    fj::runtime rt({.procs = p, .stack_size = std::size_t{64} << 10, .steal_every_fork = true});
    CHECK(rt.run([] { return leaves(depth); }) == 1 << depth);
    CHECK(rt.stats().stacks_peak <= (p == 1 ? 40 : 512));
  }
}

// A strand blocks, and leaves two records. The older one begins a chain of strands each of which blocks and leaves the
// next as its only record, so that there is always a newer marker. Tried with the newest marker at every take: the
// chain reaches its end.
TEST_CASE("ready queue: strands that block again and again do not keep older records from running") {
  const test::watchdog dog("older records", 1);
  constexpr unsigned end = 10 * fj::detail::tuning::takes_per_oldest;
  fj::runtime here({.procs = 1, .stack_size = std::size_t{64} << 10});
  fj::runtime there(test::with_procs(1));
  std::atomic<bool> over{false};
  std::atomic<unsigned> blocked{0};
  unsigned before = end;
  const auto block = [&] { there.run([&] { test::spin_until([&] { return over.load(); }); }); };
  const auto chain = [&](const auto& self) -> void {
    if (over) return;
    if (++blocked == end) over = true;
    fj::fork_join(block, [&] { self(self); });
  };
  here.run([&] {
    fj::fork_join(
        [&] {
          fj::fork_join(block, [&] {
            before = blocked;
            over = true;
          });
        },
        [&] { chain(chain); });
  });
  CHECK(before <= 2 * fj::detail::tuning::takes_per_oldest);
}

// A strand waits for its own second branch, beside fibers that talk. Tried with a count of calls that does not count
// the fibers moved to a P's own queue at once: more than a thousand slices.
TEST_CASE("ready queue: fibers that talk do not keep the record of a strand that waits from running") {
  const test::watchdog dog("a record beside fibers that talk", 1);
  constexpr unsigned pairs = 20, most = 5 * fj::detail::tuning::takes_per_oldest;
  fj::runtime rt(test::with_procs(1));
  std::atomic<bool> over{false};
  std::atomic<unsigned> slices{0}, latest{pairs};
  const auto talk = [&](unsigned pair, fj::channel<int> from, fj::channel<int> to) {
    while (!over) {
      if (latest.exchange(pair) != pair && ++slices > 2 * most) over = true;
      to.send(1);
      if (!from.receive()) break;
    }
    to.close();
    while (from.receive()) {}
  };
  rt.go([&] {
      std::vector<fj::future<void>> all;
      for (unsigned i = 0; i != pairs; ++i) {
        fj::channel<int> there(1), back(1);
        all.push_back(fj::go([&, i, there, back] { talk(i, there, back); }));
        all.push_back(fj::go([&, i, there, back] { talk(i, back, there); }));
      }
      fj::yield();
      fj::channel<int> own(0);
      slices = 0;
      fj::fork_join([&] { static_cast<void>(own.receive()); }, [&] { over = true, own.send(1); });
      for (auto& one : all) one.get();
    }).get();
  CHECK(slices <= most);
}

TEST_CASE("ready queue: what goes on soon, what was cut, and the others, each in its order") {
  using queue = fj::detail::ready_queue;
  fj::detail::job whole(nullptr);
  const auto all = std::make_unique<fj::detail::fiber[]>(6);
  for (int i = 0; i != 6; ++i) all[i].whose = &whole;
  for (fj::detail::job* const only : {static_cast<fj::detail::job*>(nullptr), &whole}) {
    queue ready;
    const auto take = [&](queue::which of) { return ready.take(of, only, false).resumed; };
    CHECK(take(queue::which::any) == nullptr);
    ready.push(all[0]);
    ready.push(all[1]);
    CHECK(!ready.any_soon());
    CHECK(take(queue::which::soon) == nullptr);
    CHECK(take(queue::which::cut) == nullptr);
    ready.push_soon(all[2]);
    ready.push_soon(all[3]);
    all[4].had = 1;
    ready.push(all[4]);
    CHECK(ready.any_soon());
    CHECK(ready.count() == 5);
    CHECK(take(queue::which::soon) == &all[2]);
    CHECK(take(queue::which::cut) == &all[4]);
    all[4].had = 0;
    ready.push(all[4]);  // its slice is over
    CHECK(take(queue::which::cut) == nullptr);
    CHECK(take(queue::which::any) == &all[0]);
    CHECK(take(queue::which::any) == &all[1]);
    CHECK(take(queue::which::any) == &all[4]);
    CHECK(take(queue::which::any) == &all[3]);  // nothing else is there
    CHECK(!ready.any_soon());
    ready.push(all[3]);
    CHECK(!ready.any_soon());
    CHECK(take(queue::which::soon) == nullptr);
    CHECK(take(queue::which::any) == &all[3]);
    CHECK(!ready.any());
  }
}

namespace {

// With one P: what strand ran in each turn, where so many wait for what a thread outside sends, s, and as many others
// are ready before that. Nothing if the strand that starts them had its P taken meanwhile, on a busy machine.
std::string try_turns_beside(unsigned woken, std::chrono::nanoseconds each_takes) {
  fj::runtime rt(test::with_procs(1));
  bool too_early = false;
  std::atomic<bool> wait_all{false}, sent{false};
  fj::channel<int> from_outside(0);
  std::thread outside([&] {
    test::spin_until([&] { return wait_all.load(); });
    for (unsigned i = 0; i != woken; ++i) from_outside.send(1);
    sent = true;
  });
  std::string turns;
  rt.go([&] {
      std::vector<fj::future<void>> all;
      unsigned waiting = 0;
      for (unsigned i = 0; i != woken; ++i) {
        all.push_back(fj::go([&] {
          ++waiting;
          static_cast<void>(from_outside.receive());
          const auto end = std::chrono::steady_clock::now() + each_takes;
          while (std::chrono::steady_clock::now() < end) {}
          turns += 's';
        }));
      }
      while (waiting != woken) fj::yield();
      for (int i = 0; i != 40; ++i) all.push_back(fj::go([&] { turns += 'o'; }));
      wait_all = true;
      test::spin_until([&] { return sent.load(); });
      too_early = !turns.empty();
      for (auto& each : all) each.get();
    }).get();
  outside.join();
  return too_early ? "" : turns;
}

std::string turns_beside(unsigned woken, std::chrono::nanoseconds each_takes = {}) {
  for (;;)
    if (std::string turns = try_turns_beside(woken, each_takes); !turns.empty()) return turns;
}

}  // namespace

// The strand that makes them ready may have gone on soon itself, so another goes first. Tried with a thread outside
// that puts what it wakes behind the others: the last of 41.
TEST_CASE("ready queue: what a thread outside wakes goes on before what was ready") {
  const test::watchdog dog("woken by a thread outside", 1);
  const std::string turns = turns_beside(1);
  CAPTURE(turns);
  CHECK(turns.find('s') <= 1);
}

// By time, of a clock that is right within a factor of two: more than tuning::between_cuts_ns goes to two of these at
// most. Tried without the look at the time, in ready_work::take: ten in succession.
TEST_CASE("ready queue: a flood of fibers that go on soon lets other strands run") {
  const test::watchdog dog("a flood", 1);
  const std::string turns = turns_beside(10, std::chrono::nanoseconds(fj::detail::tuning::between_cuts_ns) * 5 / 4);
  CAPTURE(turns);
  CHECK(turns.find("sss") == std::string::npos);
  CHECK(turns.rfind('s') <= 20);
}

// Tried with one of them in a row: none follows another.
TEST_CASE("ready queue: fibers that go on soon, and take little time, follow one another") {
  const test::watchdog dog("brief ones", 1);
  const std::string turns = turns_beside(10);
  CAPTURE(turns);
  CHECK(turns.find("ss") != std::string::npos);
}

// Strands that fork, and a thread outside that wakes a fiber again and again, for which one of them is cut each time.
// It is counted how often a strand is cut until another has its turn: cuts are 0.2 ms apart, or the monitor's and the
// waker's alternate, and slices, by a clock that is right within a factor of two, end after 10 ms. Tried with a strand
// that is cut and begins a new slice each time: some strands make no step while another is cut 450 times; where other
// programs keep the thread outside waiting for longer than a slice, the monitor ends the slice, and nothing is seen.
TEST_CASE(
    "ready queue: strands that are cut for others, and go on with the rest of their slices, do not starve the rest") {
  const test::watchdog dog("strands that are cut", 1);
  constexpr unsigned strands = 8;
  constexpr std::uint64_t most_cuts = 250;
  fj::runtime rt(test::with_procs(1));
  std::array<std::atomic<long>, strands> steps{};
  std::atomic<unsigned> runs{strands}, turns{0};
  std::atomic<bool> over{false};
  fj::channel<int> ticks(0);
  std::vector<fj::future<void>> all;
  all.push_back(rt.go([&] {
    while (ticks.receive()) {}
    over = true;
  }));
  for (unsigned i = 0; i != strands; ++i) {
    all.push_back(rt.go([&, i] {
      while (!over) {
        leaves(3);
        ++steps[i];
        if (runs.exchange(i) != i) ++turns;
      }
    }));
  }
  std::uint64_t cuts = 0, cuts_before = 0, most = 0;
  unsigned turns_before = 0;
  for (unsigned sent = 0; sent != 20'000 && cuts < test::divided(1500u) && most <= most_cuts; ++sent) {
    ticks.send(1);
    cuts = rt.stats().total().preemptions;
    if (const unsigned now = turns; now != turns_before) {
      turns_before = now;
      cuts_before = cuts;
    }
    most = cuts - cuts_before > most ? cuts - cuts_before : most;
  }
  ticks.close();
  for (auto& each : all) each.get();
  CHECK(most <= most_cuts);
  for (auto& each : steps) CHECK(each > 0);
}
