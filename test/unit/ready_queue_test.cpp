// The order in which workers take the markers of waiting fibers from the ready queue (runtime/sched/queues.hpp).
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "forkjoin/run.hpp"
#include "runtime/base/tuning.hpp"
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
// next as its only record, so that there is always a newer marker. Tried with the newest marker at every take: the chain
// reaches its end.
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

// A strand waits for its own second branch, beside fibers that talk. Tried with a count of calls that does not count the fibers moved to a
// P's own queue at once: more than a thousand slices.
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
