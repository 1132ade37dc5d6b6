// Loops without a grain begin alone: what thieves get of them all the same, and when.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <ranges>
#include <thread>
#include <vector>

#include "forkjoin/detail/quiet.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/reduce.hpp"
#include "runtime/fork/current.hpp"
#include "test/support.hpp"

// Everything that comes after the first element is there for others while that one runs, also in a handler, and for
// sums. Tried with a quiet fork in handlers: hangs.
TEST_CASE("a first element that takes long keeps no other element waiting") {
  test::for_each_runtime(
      "long first element",
      [](fj::runtime& rt, unsigned, test::stealing how) {
        if (how == test::stealing::every_fork) return;  // there the rest runs after the first part
        const auto loop = [](unsigned n) {
          std::atomic<unsigned> others = 0;
          const auto iteration = [&](unsigned i) {
            if (i != 0) return static_cast<void>(++others);
            test::spin_until([&] { return others == n - 1; });
          };
          fj::parallel_for(0u, n, iteration);
          CHECK(others == n - 1);
          others = 0;
          const auto value = [&](unsigned i) {
            iteration(i);
            return 1.0;
          };
          CHECK(fj::parallel_reduce(std::views::iota(0u, n), 0.0, std::plus<>(), value) == n);
        };
        for (unsigned round = 0; round != test::divided(20u); ++round) {
          for (const unsigned n : {2u, 3u, 100u, 1000u}) {
            rt.run([&] { loop(n); });
            rt.run([&] {
              try {
                throw n;
              } catch (unsigned) {
                loop(n);
              }
            });
          }
        }
      },
      2);
}

// The first element is cheap, and each of the others waits until two of them run at once. Tried with a second part of
// all that is left: hangs.
TEST_CASE("a cheap first element says little about the others") {
  test::for_each_runtime(
      "cheap first element",
      [](fj::runtime& rt, unsigned, test::stealing) {
        for (unsigned round = 0; round != test::divided(20u); ++round) {
          std::atomic<unsigned> inside = 0;
          std::atomic<bool> shared = false;
          rt.run([&] {
            fj::parallel_for(0, 100, [&](int i) {
              if (i == 0) return;
              if (++inside > 1) shared = true;
              test::spin_until([&] { return shared.load(); });
              --inside;
            });
          });
          CHECK(shared);
        }
      },
      2);
}

// Many loops are brief, then some of the same body take long: first the first element, then all but the first ones.
// Tried without a fork in loops that are expected to be brief: hangs at the first. Tried without `forget`: hangs at the
// second.
TEST_CASE("loops that were brief are shared once they take long") {
  test::for_each_runtime(
      "brief no more",
      [](fj::runtime& rt, unsigned, test::stealing how) {
        if (how == test::stealing::every_fork) return;  // there the rest runs after the first part
        constexpr int first_part = 16, n = 1000;
        enum { brief, first_is_long, others_are_long } elements = brief;
        std::atomic<int> others = 0, inside = 0;
        std::atomic<bool> shared = false;
        const auto body = [&](int i) {
          if (elements == first_is_long) {
            if (i >= first_part) ++others;
            if (i == 0) test::spin_until([&] { return others == n - first_part; });
          } else if (elements == others_are_long && i >= first_part) {
            if (++inside > 1) shared = true;
            if (!shared) std::this_thread::sleep_for(std::chrono::microseconds(100));
            --inside;
          }
        };
        const auto loops = [&](unsigned count) {
          for (; count != 0; --count) fj::parallel_for(0, n, body);
        };
        rt.run([&] {
          loops(100);
          elements = first_is_long;
          loops(1);
        });
        CHECK(others == n - first_part);
        elements = brief;
        rt.run([&] {
          loops(100);
          elements = others_are_long;
          while (!shared) loops(1);
        });
        CHECK(shared);
      },
      2);
}

// Loops of a few elements are so brief that they run without a fork; then elements take long. The first such loop may
// run alone, but a thief says that it was slow. Tried without `forget`: hangs.
TEST_CASE("very brief loops are shared once they take long") {
  test::for_each_runtime(
      "very brief no more",
      [](fj::runtime& rt, unsigned, test::stealing how) {
        if (how == test::stealing::every_fork) return;  // there no loop is brief
        bool are_long = false;
        std::atomic<int> inside = 0;
        std::atomic<bool> shared = false;
        const auto body = [&](int) {
          if (!are_long) return;
          if (++inside > 1) shared = true;
          if (!shared) std::this_thread::sleep_for(std::chrono::microseconds(100));
          --inside;
        };
        const auto loop = [&] { fj::parallel_for(0, 8, body); };
        rt.run([&] {
          for (int i = 0; i != 1000; ++i) loop();
          are_long = true;
          while (!shared) loop();
        });
        CHECK(shared);
      },
      2);
}

// A fork would wake the worker, which takes many times as long as such a loop. Tried without the look for sleepers in
// begin_loop_slow: each wakes it.
TEST_CASE("a very brief loop wakes no worker") {
  if (!test::may_fence_others() || test::sanitized || RUNNING_ON_VALGRIND) return;  // there no loop is so brief
  const test::watchdog dog("very brief loops", 2);
  fj::runtime rt(test::with_procs(2));
  constexpr int rounds = 40;
  int woke = 0;
  rt.run([&] {
    const auto total = [&] { return rt.stats().total(); };
    const auto loop = [] { fj::parallel_for(0, 8, [](int) {}); };
    for (int round = 0; round != rounds; ++round) {
      for (int i = 0; i != 1000; ++i) loop();
      std::atomic<int> inside = 0;
      std::uint64_t parks = 0;
      const auto meet = [&] {
        ++inside;
        test::spin_until([&] { return inside == 2; });
      };
      fj::fork_join(meet, [&] {
        parks = total().parks;  // of a worker that works
        meet();
      });
      // A caller that waits for its job gives its P up, too, but that is no park.
      const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      test::spin_until([&] { return total().parks != parks || std::chrono::steady_clock::now() > limit; });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it interrupts this thread once more
      const std::uint64_t wakeups = total().wakeups;
      loop();
      woke += total().wakeups != wakeups;
    }
  });
  CHECK(woke < rounds);
}

// Otherwise a loop's mistakes would be paid off by forks that wake nobody. Tried with wakes_worker true if no worker
// looks for work: fails.
TEST_CASE("no fork wakes a worker while all P are busy") {
  const test::watchdog dog("all busy", 2);
  fj::runtime rt(test::with_procs(2));
  std::atomic<int> inside = 0;
  std::atomic<bool> done = false;
  const auto meet = [&] {
    ++inside;
    test::spin_until([&] { return inside == 2; });
  };
  rt.run([&] {
    fj::fork_join(
        [&] {
          meet();
          CHECK_FALSE(fj::detail::wakes_worker());
          done = true;
        },
        [&] {
          meet();
          test::spin_until([&] { return done.load(); });
        });
  });
}

// Most loops of a body are very brief, and every thousandth is long: its first element waits for the others, but not
// for ever. Few of these may run without a fork. Tried with as few forks after a mistake as without one: some half of
// them do.
TEST_CASE("a body that some loops take long with forks in its brief loops, too") {
  test::for_each_runtime(
      "long now and then",
      [](fj::runtime& rt, unsigned, test::stealing how) {
        if (how == test::stealing::every_fork) return;  // there the rest runs after the first part
        constexpr int rounds = 20, n = 8;
        bool is_long = false;
        std::atomic<int> others = 0;
        int alone = 0;
        const auto body = [&](int i) {
          if (!is_long) return;
          if (i != 0) return static_cast<void>(++others);
          const auto begun = std::chrono::steady_clock::now();
          while (others != n - 1) {
            if (std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(50))
              return static_cast<void>(++alone);
            std::this_thread::yield();
          }
        };
        rt.run([&] {
          for (int round = 0; round != rounds; ++round) {
            is_long = false;
            for (int i = 0; i != 1000; ++i) fj::parallel_for(0, n, body);
            others = 0;
            is_long = true;
            fj::parallel_for(0, n, body);
          }
        });
        CHECK(alone <= rounds / 4);
      },
      2);
}

// A record that was pushed before small loops: their owner makes it public once a thief asks, as it would at any fork.
// Tried with is_watched true although older records are private, and with very brief loops that never fork: a hundred
// thousand loops and more go by.
TEST_CASE("small loops keep no older record from thieves") {
  if (!test::may_fence_others()) return;
  const test::watchdog dog("older record", 2);
  const auto ignored_by = [](auto loop) {
    fj::runtime rt(test::with_procs(2));
    int most = 0, shared = 0;
    for (int round = 0; round != 100; ++round) {
      std::uint64_t exposures = 0;
      std::atomic<bool> stolen = false, looping = false, taken = false;
      const auto is_asked_for_record = [] {
        const fj::detail::deque& own = fj::detail::current_deque();
        return !own.asks_nothing() && own.has_private();
      };
      int ignored = 0;  // loops that began while it was asked for, and after which it still was
      const auto loops = [&] {
        for (int i = 0; i != 1000; ++i) loop();
        looping = true;
        while (!taken) {
          const bool asked = is_asked_for_record();
          loop();
          ignored = asked && is_asked_for_record() ? ignored + 1 : 0;
          most = std::max(most, ignored);
        }
      };
      // The other worker is busy until the record lies in the deque, and forks have cleared the request.
      rt.run([&] {
        fj::fork_join(
            [&] {
              test::spin_until([&] { return stolen.load(); });
              exposures = rt.stats().total().exposures;  // that record may have been forced
              for (int i = 0; i != 100; ++i) fj::fork_join([] {}, [] {});
              fj::fork_join(loops, [&] { taken = true; });
            },
            [&] {
              stolen = true;
              test::spin_until([&] { return looping.load(); });
            });
      });
      shared += rt.stats().total().exposures == exposures;
    }
    CHECK(shared > 0);
    return most;
  };
  CHECK(ignored_by([] { fj::detail::fork_quietly([] {}, [] {}); }) < 20);  // what a small loop does
  std::vector<int> all(4);
  CHECK(ignored_by([&all] { fj::parallel_for(all, [](int& x) { ++x; }); }) < 20);  // a very brief one
}

// Tried with a push that always attends: fails.
TEST_CASE("small loops are not shared") {
  if (!test::may_fence_others()) return;
  constexpr unsigned loops = 20'000;
  fj::runtime rt(test::with_procs(2));
  std::vector<int> all(20);
  rt.run([&] {
    for (unsigned i = 0; i != loops; ++i) fj::parallel_for(all, [](int& x) { ++x; });
  });
  CHECK(all == std::vector<int>(20, loops));
  // Where a loop takes ten times as long, it is not small.
  if (!test::sanitized && !RUNNING_ON_VALGRIND) CHECK(rt.stats().total().publications < loops / 2);
}
