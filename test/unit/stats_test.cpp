// The counters count what happens, and nothing happens that need not.
#include "forkjoin/abi/stats.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <numeric>
#include <thread>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "forkjoin/scope.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/base/tuning.hpp"
#include "test/support.hpp"
#include "test/threads.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

TEST_CASE("stats: a job that never forks wakes no worker") {
  // If hand_over always calls wake, there were wake-ups.
  test::for_each_procs([](unsigned p) {
    CAPTURE(p);
    const test::watchdog dog("jobs without forks", p);
    fj::runtime rt(test::with_procs(p));
    for (int i = 0; i < 100; ++i) rt.run([] {});
    const fj::counters sum = rt.stats().total();
    CHECK(sum.wakeups == 0);
    CHECK(sum.parks == 0);
    CHECK(sum.steals == 0);
    CHECK(sum.suspensions == 0);
    CHECK(sum.slow_pushes == 0);
    CHECK(rt.stats().stacks_peak == 1);
    CHECK(rt.stats().stacks_in_use == 0);
  });
}

TEST_CASE("stats: one P makes nothing public and steals nothing" * doctest::skip(!test::may_fence_others())) {
  const test::watchdog dog("one P", 1);
  fj::runtime rt(test::with_procs(1));
  CHECK(rt.run([] { return fib(15); }) == 610);
  const fj::counters sum = rt.stats().total();
  CHECK(sum.steals == 0);
  CHECK(sum.publications == 0);
  CHECK(sum.exposures == 0);
  CHECK(sum.slow_pops == 0);
  CHECK(sum.slow_pushes == 1);  // the first push: every fresh deque checks for hungry workers once
  CHECK(sum.wakeups == 0);
}

TEST_CASE("stats: if all records are public, most_public is the depth of the forks") {
  // If the count is taken before the push's own record is public: one less.
  const test::fences no_membarrier(test::stealing::all_public);
  const test::watchdog dog("all public", 1);
  fj::runtime rt(test::with_procs(1));
  rt.run([] { fib(15); });
  CHECK(rt.stats().total().most_public == 14);
  rt.run([] { fib(12); });
  CHECK(rt.stats().procs[0].most_public == 14);
}

TEST_CASE("stats: with every fork stolen, every fork is a steal") {
  test::for_each_procs([](unsigned p) {
    CAPTURE(p);
    const test::watchdog dog("every fork stolen", p);
    fj::runtime rt(test::with(p, test::stealing::every_fork));
    CHECK(rt.run([] { return fib(10); }) == 55);
    const fj::counters sum = rt.stats().total();
    constexpr unsigned forks = 88;
    CHECK(sum.steals == forks);
    CHECK(sum.slow_pops == 0);
    CHECK(sum.resumptions <= sum.suspensions);
    // Thieves take the oldest record first, so the join that made them look finds its own record taken last, or done.
    if (p == 1) CHECK(sum.suspensions > 0);
    if (p == 1) CHECK(sum.resumptions == sum.suspensions);
    CHECK(rt.stats().stacks_peak >= 2);
  });
}

TEST_CASE("stats: a steal, its suspension and its resumption") {
  const test::watchdog dog("one steal", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([&] {
    std::atomic<bool> stolen{false};
    fj::fork_join([&] { test::spin_until([&] { return stolen.load(); }); },
                  [&] {
                    stolen = true;
                    test::spin_until([&] { return rt.stats().total().suspensions > 0; });
                  });
  });
  const fj::stats now = rt.stats();
  CHECK(now.total().steals == 1);
  CHECK(now.total().wakeups >= 1);
  CHECK(now.total().publications == 1);
  CHECK(now.total().suspensions == 1);
  CHECK(now.total().resumptions <=
        now.total().suspensions);  // less if the thief came while the owner was about to suspend
  CHECK(now.stacks_peak >= 2);
  fj::counters sum;
  for (const fj::counters& each : now.procs) sum += each;
  CHECK(sum.steals == now.total().steals);
}

TEST_CASE("stats: a strand's first fork is public, though all workers are busy" *
          doctest::skip(!test::may_fence_others())) {
  // If the owner shares for hungry workers alone, it was private.
  const test::watchdog dog("first fork", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([&] {
    std::atomic<bool> over{false};
    fj::fork_join([&] { test::spin_until([&] { return over.load(); }); },
                  [&] {
                    const auto publications = [&] { return rt.stats().total().publications; };
                    const std::uint64_t before = publications();
                    fj::fork_join([] {}, [] {});
                    CHECK(publications() == before + 1);
                    // The next record is public only if this one was public for long, and so on. The first record that
                    // was not ends the row, because no worker asks. If the owner shares every time (tried), it hung.
                    const auto fork_is_public = [&] {
                      const std::uint64_t so_far = publications();
                      fj::fork_join([] {}, [] {});
                      return publications() != so_far;
                    };
                    if (!RUNNING_ON_VALGRIND) {  // under Valgrind each is public for long
                      while (fork_is_public()) std::this_thread::yield();
                      for (int i = 0; i < 10; ++i) CHECK(!fork_is_public());
                    }
                    over = true;
                  });
  });
}

TEST_CASE("stats: the fork after one that was public for long is public, though all workers are busy" *
          doctest::skip(!test::may_fence_others())) {
  // If take_back sends a request for hungry workers alone, only the first was public.
  const test::watchdog dog("long in public", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([&] {
    std::atomic<bool> over{false};
    fj::fork_join([&] { test::spin_until([&] { return over.load(); }); },
                  [&] {
                    const std::uint64_t before = rt.stats().total().publications;
                    for (unsigned i = 1; i <= 10; ++i) {
                      fj::fork_join([] { std::this_thread::sleep_for(std::chrono::microseconds(100)); }, [] {});
                      CHECK(rt.stats().total().publications == before + i);
                    }
                    over = true;
                  });
  });
}

TEST_CASE("stats: the first fork after a join whose record was stolen is public, though all workers are busy") {
  // Without the request in join_slow it was private, unless the thief looked for work again.
  const test::watchdog dog("fork after join", 2);
  fj::runtime rt(test::with_procs(2));
  std::atomic<bool> stolen{false}, busy{false}, over{false};
  std::atomic<pid_t> caller{0};
  std::thread other([&] {
    test::spin_until([&] { return stolen.load(); });
    caller = gettid();
    rt.run([&] {
      busy = true;
      test::spin_until([&] { return over.load(); });
    });
  });
  rt.run([&] {
    fj::fork_join([&] { test::spin_until([&] { return busy.load(); }); },
                  [&] {
                    stolen = true;
                    test::spin_until([&] { return caller != 0 && test::sleeps(caller); });  // its job waits for a P
                  });
    const std::uint64_t before = rt.stats().total().publications;
    fj::fork_join([] {}, [] {});
    CHECK(rt.stats().total().publications == before + 1);
    over = true;
  });
  other.join();
}

// Tried without the count in join_slow: with first_leave and last_leave it hangs.
TEST_CASE_TEMPLATE("stats: a join that is not complete when its strand comes is a join wait", Policy, test::first_leave,
                   test::first_top, test::first_leap, test::last_leave, test::last_top, test::last_leap) {
  const test::watchdog dog("join waits", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([&] {
    std::atomic<bool> stolen{false};
    const auto waits = [&] {
      stolen = true;
      test::spin_until([&] { return rt.stats().total().join_waits > 0; });
    };
    const auto comes = [&] { test::spin_until([&] { return stolen.load(); }); };
    if constexpr (fj::detail::runs_first_child<Policy>) {
      fj::fork_join<Policy>(comes, waits);
    } else {
      fj::fork_join<Policy>(waits, comes);
    }
  });
  const fj::counters all = rt.stats().total();
  CHECK(all.join_waits == 1);
  CHECK(all.steals == 1);
  CHECK(std::accumulate(all.joins_late.begin(), all.joins_late.end(), std::uint64_t{0}) == 1);
  CHECK(all.most_late_ns == all.late_ns);
  CHECK(all.longest_stolen_ns == all.stolen_ns);
  CHECK(all.stolen_ns > 0);
}

TEST_CASE_TEMPLATE("stats: so are those of a scope and of a loop of forks", Policy, test::first_leave, test::first_top,
                   test::last_leave, test::last_top) {
  const test::watchdog dog("join waits of scopes", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([&] {
    std::atomic<bool> stolen{false};
    fj::basic_scope<Policy> s;
    std::atomic<bool> over{false};
    s.fork([&] {
      stolen = true;
      test::spin_until([&] { return rt.stats().total().join_waits > 0; });
      over = true;
    });
    test::spin_until([&] { return stolen.load(); });
    s.join();
    CHECK(over);
  });
  CHECK(rt.stats().total().join_waits == 1);

  fj::runtime of_loop(test::with_procs(2));
  of_loop.run([&] {
    std::atomic<bool> stolen{false};
    const std::array<int, 2> turns = {0, 1};
    fj::fork_each<Policy>(turns, [&](int turn) {
      if ((turn == 0) == fj::detail::runs_first_child<Policy>) {
        test::spin_until([&] { return stolen.load(); });
      } else {
        stolen = true;
        test::spin_until([&] { return of_loop.stats().total().join_waits > 0; });
      }
    });
  });
  CHECK(of_loop.stats().total().join_waits == 1);
}

// The strand that comes to its join has to take a long record in the meantime: it is late by what is left of that when
// its own branch is done. Tried without ends_here: the lateness begins where the strand came.
TEST_CASE("stats: a strand that runs a long record on top of its stack is late") {
  const test::watchdog dog("lateness", 3);
  constexpr auto brief = std::chrono::milliseconds(50), longer = 2 * brief;
  // The strand that waits looks for a moment only: the record has to be public by then.
  const test::fences at_once(test::stealing::all_public);
  fj::runtime rt(test::with_procs(3));
  // The long record is there when both other workers are busy: one has it in its deque, the other keeps the strand
  // waiting.
  const auto round = [&] {
    std::atomic<bool> started{false}, begun{false}, others_record{false}, long_begun{false};
    fj::fork_join<fj::tasks>(
        [&] {  // stolen, for a deque with a record that the late strand takes
          started = true;
          test::spin_until([&] { return begun.load(); });
          fj::fork_join<fj::tasks>(
              [&] {
                long_begun = true;
                std::this_thread::sleep_for(longer);
              },
              [&] {
                others_record = true;
                test::spin_until([&] { return long_begun.load(); });
              });
        },
        [&] {
          test::spin_until([&] { return started.load(); });
          fj::fork_join<fj::tasks>(
              [&] {
                begun = true;
                test::spin_until([&] { return long_begun.load(); });
                std::this_thread::sleep_for(brief);
              },
              [&] { test::spin_until([&] { return others_record.load(); }); });
        });
  };
  constexpr auto at_least = static_cast<std::uint64_t>(std::chrono::nanoseconds(brief).count()) / 2;
  fj::counters before, after;
  // Another worker may take the long record: then no strand is late.
  for (int i = 0; i != 100 && after.late_ns - before.late_ns < at_least; ++i) {
    before = rt.stats().total();
    rt.run(round);
    after = rt.stats().total();
  }
  CHECK(after.most_late_ns >= at_least);
  CHECK(after.joins_late.back() >= 1);
  CHECK(after.longest_stolen_ns >= 2 * at_least);
  CHECK(after.on_top_ns - before.on_top_ns >= after.late_ns - before.late_ns + at_least);
}

// Tried without the note in switch_to, and with a weight of 1 for what strands wake.
TEST_CASE("stats: how long fibers that could go on waited for their P") {
  const test::watchdog dog("ready fibers", 1);
  constexpr auto time = std::chrono::milliseconds(20);
  constexpr auto at_least = static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
  {
    fj::runtime rt(test::with_procs(1));
    rt.run([&] {
      std::array<fj::future<void>, fj::detail::tuning::wakes_per_measured> all;
      for (auto& each : all) each = fj::go([] {});
      std::this_thread::sleep_for(time);
      for (auto& each : all) each.get();
    });
    CHECK(rt.stats().total().most_ready_ns >= at_least);
    CHECK(rt.stats().total().ready_ns >= fj::detail::tuning::wakes_per_measured * at_least);
  }
  fj::runtime rt(test::with_procs(1));
  rt.run([&] {
    fj::promise<void> set_outside;
    auto waits = fj::go([got = set_outside.get_future()]() mutable { got.get(); });
    while (rt.stats().total().suspensions == 0) fj::yield();
    std::thread([&] { set_outside.set_value(); }).join();
    std::this_thread::sleep_for(time);
    waits.get();
  });
  CHECK(rt.stats().total().most_ready_ns >= at_least);
}

TEST_CASE("stats: counters only grow while other threads work") {
  test::for_each_runtime("reading stats", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    std::atomic<bool> over{false}, grew{true};
    std::thread reader([&] {
      fj::counters last;
      while (!over) {
        const fj::counters now = rt.stats().total();
        if (now.steals < last.steals || now.slow_pushes < last.slow_pushes || now.parks < last.parks) grew = false;
        last = now;
        std::this_thread::yield();
      }
    });
    for (int i = 0; i < 5; ++i) rt.run([] { return fib(10); });
    over = true;
    reader.join();
    CHECK(grew);
  });
}

TEST_CASE("stats: stacks go back when no strand needs them") {
  test::for_each_runtime("stacks", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (int i = 0; i < 5; ++i) CHECK(rt.run([] { return fib(12); }) == 144);
    // Each P keeps one; the last stacks of a job may not be back yet.
    test::spin_until([&] { return rt.stats().stacks_in_use <= p; });
    CHECK(rt.stats().stacks_peak >= rt.stats().stacks_in_use);
  });
}

TEST_CASE("stats: stacks are counted for the P that took them") {
  // If the P that took a stack does not count its return, the sums never agree.
  test::for_each_runtime("stacks per P", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    rt.run([&] {
      const fj::stats inside = rt.stats();
      CHECK(inside.procs[static_cast<std::size_t>(fj::this_proc())].stacks_in_use >= 1);
      CHECK(fib(12) == 144);
      fj::with_scope([](fj::scope& s) {
        for (int i = 0; i < 50; ++i) s.fork([] { static_cast<void>(fib(6)); });
      });
    });
    test::spin_until([&] {  // workers that go to sleep still give some stacks back
      const fj::stats now = rt.stats();
      return now.stacks_in_use <= p && now.total().stacks_in_use == now.stacks_in_use;
    });
    const fj::stats now = rt.stats();
    CHECK(now.total().stacks_peak >= now.stacks_peak);
    for (const fj::counters& c : now.procs) CHECK(c.stacks_in_use <= c.stacks_peak);
  });
}

// Without the count (tried for each) this hangs or fails.
TEST_CASE("stats: a scope's join that waits is counted, and so are the workers that park then") {
  const test::watchdog dog("a scope's join", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([&] {
    const fj::counters before = rt.stats().total();
    std::atomic<bool> gone_on{false};
    fj::scope s;
    s.fork([&] {
      test::spin_until([&] { return gone_on.load(); });
      test::spin_until([&] { return rt.stats().total().suspensions > before.suspensions; });
    });
    gone_on = true;
    s.join();
    CHECK(rt.stats().total().suspensions == before.suspensions + 1);
  });
  test::spin_until([&] { return rt.stats().total().parks > 0; });
}

TEST_CASE("stats: if all records are public, each pop takes the slow path") {
  const test::fences no_membarrier(test::stealing::all_public);
  fj::runtime rt(test::with_procs(1));
  rt.run([] {
    fj::fork_join([] {}, [] {});
    fj::fork_join([] {}, [] {});
  });
  CHECK(rt.stats().total().slow_pops == 2);
}

TEST_CASE("stats: maxima of stacks and records do not fall") {
  fj::runtime rt(test::with(2, test::stealing::every_fork));
  rt.run([] { fj::fork_join([] {}, [] { fj::fork_join([] {}, [] {}); }); });
  const std::size_t peak = rt.stats().stacks_peak;
  CHECK(peak > 1);
  rt.run([] {});
  CHECK(rt.stats().stacks_peak >= peak);

  fj::counters most{.most_public = 3}, other{.most_public = 5};
  most += other;
  CHECK(most.most_public == 5);
}

TEST_CASE("stats: a stopwatch") {
  std::int64_t now = 1000;
  const auto clock = [&] { return now; };
  fj::detail::stopwatch watch;
  CHECK(watch.read(clock) == 0);
  watch.start(now);
  CHECK(watch.runs());
  CHECK(watch.read(clock) == 0);
  now = 1500;
  CHECK(watch.read(clock) == 500);
  watch.stop(now);
  now = 9000;
  CHECK(!watch.runs());
  CHECK(watch.read(clock) == 500);
  watch.start(now);
  now = 9001;
  CHECK(watch.read(clock) == 501);
}

TEST_CASE("stats: each P is busy, looks for work, or is idle, and no longer than the runtime lived") {
  test::for_each_runtime("times", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    CHECK(rt.stats().total().busy_ns == 0);
    CHECK(rt.stats().total().looking_ns == 0);
    CHECK(rt.stats().working_ns == 0);
    rt.run([&] {
      const auto within = static_cast<std::size_t>(fj::this_proc());
      const std::uint64_t before = rt.stats().procs[within].busy_ns;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      CHECK(rt.stats().procs[within].busy_ns >= before + 2'000'000);
      static_cast<void>(fib(12));
    });
    fj::counters last;
    for (int i = 0; i < 20; ++i) {
      const fj::stats now = rt.stats();
      // Not the sum of the two: a worker that stops the one watch stores that a moment after it read the clock.
      for (const fj::counters& c : now.procs) {
        CHECK(c.busy_ns <= now.lived_ns);
        CHECK(c.looking_ns <= now.lived_ns);
      }
      CHECK(now.working_ns <= now.lived_ns);
      CHECK(now.working_ns >= 2'000'000);
      CHECK(now.total().busy_ns >= last.busy_ns);
      CHECK(now.total().looking_ns >= last.looking_ns);
      last = now.total();
      if (i % 2) rt.run([] { static_cast<void>(fib(8)); });
    }
  });
}

TEST_CASE("stats: a P that no thread held has spent no time, and a worker that waits for work counts as looking") {
  const test::watchdog dog("idle P", 3);
  fj::runtime rt(test::with_procs(3));
  for (int i = 0; i < 10; ++i) rt.run([] { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
  const fj::stats serial = rt.stats();
  // If the worker that gives a P up does not end its time (tried), the time goes on.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(rt.stats().total().busy_ns == serial.total().busy_ns);
  CHECK(rt.stats().working_ns == serial.working_ns);
  CHECK(rt.stats().lived_ns > serial.lived_ns);
  int used = 0;
  for (const fj::counters& c : serial.procs) {
    if (c.busy_ns > 0) ++used;
    CHECK(c.looking_ns == 0);
  }
  CHECK(used == 1);
  // The thief finds nothing after its theft, and does not give up at once.
  rt.run([&] {
    std::atomic<bool> stolen{false};
    fj::fork_join([&] { test::spin_until([&] { return stolen.load(); }); }, [&] { stolen = true; });
  });
  test::spin_until([&] { return rt.stats().total().parks > 0; });
  CHECK(rt.stats().total().looking_ns > 0);
}
