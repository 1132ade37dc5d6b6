// A fiber of one runtime that calls run of another waits, and its worker goes on.
#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "runtime/sched/scheduler.hpp"
#include "test/support.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// fib, where every level runs in the other runtime.
long fib_between(fj::runtime& here, fj::runtime& there, int n) {
  if (n < 2) return n;
  return here.run([&, n] {
    auto [a, b] = fj::fork_join([&, n] { return fib_between(there, here, n - 1); },
                                [&, n] { return fib_between(there, here, n - 2); });
    return a + b;
  });
}

// The leaves of a tree that is forked in one runtime; each is counted in the other.
template <class Policy>
long leaves_between(fj::runtime& there, fj::runtime& here, int depth) {
  if (depth == 0) return there.run([&] { return 1L; });
  auto [a, b] = fj::fork_join<Policy>([&, depth] { return leaves_between<Policy>(there, here, depth - 1); },
                                      [&, depth] { return leaves_between<Policy>(there, here, depth - 1); });
  return a + b;
}

// Calls body(a, b) with runtimes of all numbers of P and ways to steal.
template <class Body>
void with_two(const char* what, Body body) {
  for (const auto how :
       {test::stealing::by_need, test::stealing::every_fork, test::stealing::all_public, test::stealing::by_signal}) {
    const test::fences fences(how);
    for (const unsigned p : test::procs_to_try)
      for (const unsigned q : {1u, 3u}) {
        CAPTURE(p);
        CAPTURE(q);
        CAPTURE(test::name_of(how));
        const test::watchdog dog(what, p);
        fj::runtime a(test::with(p, how)), b(test::with(q, how));
        body(a, b);
      }
  }
}

}  // namespace

TEST_CASE("two runtimes: results and exceptions come back") {
  with_two("results of another runtime", [](fj::runtime& a, fj::runtime& b) {
    int x = 0;
    CHECK(a.run([&] { return b.run([] { return fib(10); }); }) == 55);
    CHECK(&a.run([&]() -> int& { return b.run([&]() -> int& { return x; }); }) == &x);
    CHECK(*a.run([&] { return b.run([] { return std::make_unique<int>(1); }); }) == 1);
    CHECK_THROWS_WITH_AS(a.run([&] { b.run([] { throw std::runtime_error("inside b"); }); }), "inside b",
                         std::runtime_error);
    CHECK(a.run([&] {
      try {
        b.run([] { throw 1; });
      } catch (int) {
        return b.run([] { return fib(8); });
      }
      return 0L;
    }) == 21);
  });
}

TEST_CASE("two runtimes: code knows where it runs") {
  with_two("place", [](fj::runtime& a, fj::runtime& b) {
    bool right = true;
    const auto is_in = [&](const fj::runtime& rt) {
      right =
          right && fj::procs() == rt.procs() && fj::this_proc() >= 0 && fj::this_proc() < static_cast<int>(rt.procs());
    };
    a.run([&] {
      is_in(a);
      b.run([&] {
        is_in(b);
        a.run([&] {
          is_in(a);
          fj::run([&] { is_in(a); });
        });
        is_in(b);
      });
      is_in(a);
    });
    CHECK(right);
    CHECK(fj::this_proc() == -1);
  });
}

TEST_CASE("two runtimes: ping-pong") {
  with_two("ping-pong", [](fj::runtime& a, fj::runtime& b) {
    const long sum = a.run([&] {
      long total = 0;
      for (int i = 0; i < 30; ++i) total += b.run([&] { return a.run([&, i] { return b.run([=] { return i; }); }); });
      return total;
    });
    CHECK(sum == 435);
  });
}

TEST_CASE("two runtimes: every level of a recursion in the other one") {
  with_two("recursion between runtimes", [](fj::runtime& a, fj::runtime& b) {
    CHECK(fib_between(a, b, 9) == 34);
    CHECK(fib_between(b, a, 9) == 34);
  });
}

// A task that waits runs others on top of its stack, and those may use up the deque that was set aside for it. If
// join_slow does not set one aside where it leaves (tried), a P has no deque: a crash with every fork stolen.
TEST_CASE("two runtimes: a task on top of a waiting one waits for the other runtime") {
  with_two("waits on top of tasks", [](fj::runtime& a, fj::runtime& b) {
    CHECK(a.run([&] { return leaves_between<fj::tasks>(b, a, 7); }) == 128);
    CHECK(b.run([&] { return leaves_between<fj::tasks>(a, b, 7); }) == 128);
    CHECK(a.run([&] { return leaves_between<fj::continuations>(b, a, 7); }) == 128);
  });
}

// A fiber that waits in another runtime leaves its deque behind, and a marker for it in the ready queue. When the
// records have been taken the marker must be gone. Otherwise 99 markers are here, and workers try to run them.
TEST_CASE("two runtimes: the empty deques of fibers that wait have no markers") {
  with_two("empty deques of fibers that wait", [](fj::runtime& a, fj::runtime& b) {
    constexpr int turns = 100;
    std::atomic<int> begun{0};
    std::size_t markers = turns;
    const auto turn = [&] {
      if (++begun == turns) markers = fj::detail::current_scheduler()->dispatcher().ready_count();
      b.run([&] { test::spin_until([&] { return begun == turns; }); });
    };
    a.run([&] { fj::fork_each(0, turns, [&](int) { turn(); }); });
    // A thief that found a deque when it was active may empty it afterwards: one for each P, until the thief's next
    // look.
    CHECK(markers <= a.procs() + 1);
  });
}

TEST_CASE("two runtimes: in both directions at once, from several threads") {
  with_two("both ways", [](fj::runtime& a, fj::runtime& b) {
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        fj::runtime& first = t % 2 ? a : b;
        fj::runtime& second = t % 2 ? b : a;
        for (int i = 0; i < 5; ++i) right += fib_between(first, second, 7) == 13;
      });
    for (auto& thread : threads) thread.join();
    CHECK(right == 20);
  });
}

TEST_CASE("two runtimes: the worker of a fiber that waits goes on, and the fiber's records can be stolen") {
  // Also with one P: the caller of run finds the marker. With push_marker left empty it hung.
  for (const unsigned p : test::procs_to_try) {
    const test::watchdog dog("deque goes along", p);
    fj::runtime a(test::with_procs(p)), b(test::with_procs(1));
    for (unsigned round = 0; round < test::divided(20u); ++round) {
      std::atomic<int> ran{0};
      a.run([&] {
        fj::fork_join(
            [&] { fj::fork_join([&] { b.run([&] { test::spin_until([&] { return ran == 2; }); }); }, [&] { ++ran; }); },
            [&] { ++ran; });
      });
      CHECK(ran == 2);
    }
  }
}

TEST_CASE("two runtimes: forks and joins around the wait") {
  with_two("forks around waits", [](fj::runtime& a, fj::runtime& b) {
    const auto mixed = [&] {
      auto [x, y, z] = fj::fork_join([&] { return fib(8) + b.run([] { return fib(9); }); }, [] { return fib(10); },
                                     [&] { return b.run([] { return fib(7); }) + fib(6); });
      return x + y + z;
    };
    for (int i = 0; i < 5; ++i) CHECK(a.run(mixed) == 21 + 34 + 55 + 13 + 8);
  });
}

TEST_CASE("two runtimes: a runtime made, used and ended by a fiber of another") {
  // While the fiber goes on after run, and ends the runtime, the worker that submitted the job may still be in it.
  // Without a guest for that time, and with a delay between the two halves of dispatcher::ready, ASan reported a use
  // after free.
  with_two("runtime within a runtime", [](fj::runtime& a, fj::runtime&) {
    const unsigned rounds = test::divided(50u);
    const long sum = a.run([&] {
      long total = 0;
      for (unsigned i = 0; i < rounds; ++i) {
        fj::runtime inner(test::with_procs(1 + i % 3));
        // A worker that still spins probably takes the second job before its wake-up is complete.
        for (int job = 0; job < 2; ++job) total += inner.run([] { return fib(6); });
      }
      return total;
    });
    CHECK(sum == 16L * rounds);
  });
}

TEST_CASE("two runtimes: three nested, each within a fork of the one before") {
  for (const unsigned p : test::procs_to_try) {
    const test::watchdog dog("three runtimes", p);
    fj::runtime a(test::with_procs(p)), b(test::with_procs(2)), c(test::with_procs(1));
    const long sum = a.run([&] {
      auto [x, y] = fj::fork_join(
          [&] {
            return b.run([&] {
              auto [u, v] = fj::fork_join([&] { return c.run([] { return fib(8); }); }, [] { return fib(9); });
              return u + v;
            });
          },
          [&] { return c.run([&] { return a.run([&] { return b.run([] { return fib(7); }); }); }); });
      return x + y;
    });
    CHECK(sum == 21 + 34 + 13);
  }
}

TEST_CASE("two runtimes: a job that waits for a worker has no stack") {
  // A stack for each job at once, as from the pool in run_from_fiber, came to 100 and more.
  static constexpr int branches = 100;
  with_two("jobs in the queue", [](fj::runtime& a, fj::runtime& b) {
    std::atomic<int> missing{branches}, ran{0};
    std::size_t stacks = 0;
    std::latch all_have_come(1);
    a.run([&] {
      fj::fork_each(0, branches, [&](int) {
        if (missing.fetch_sub(1) == 1) {
          stacks = b.stats().stacks_in_use;
          all_have_come.count_down();
        }
        b.run([&] {
          all_have_come.wait();  // holds the worker
          ++ran;
        });
      });
    });
    CHECK(ran == branches);
    CHECK(stacks <= 2 * b.procs());
  });
}

// As one that anything else outside of its runtime has woken. Tried with dispatcher().ready in sched/run.cpp:
// ended_for_fiber: all others go first.
TEST_CASE("two runtimes: a fiber whose job in the other runtime is over goes on soon") {
  const test::watchdog dog("a fiber goes on soon", 1);
  fj::runtime a(test::with_procs(1));
  fj::runtime b(test::with_procs(1));
  for (int round = 0; round < 10; ++round) {  // it may be lucky
    std::atomic<bool> computes{false}, all_wait{false}, job_begins{false}, job_may_end{false};
    std::atomic<int> gone_on{0}, place{0};
    auto waits = a.go([&] {
      b.run([&] {
        job_begins = true;
        test::spin_until([&] { return job_may_end.load(); });
      });
      place = ++gone_on;
    });
    test::spin_until([&] { return job_begins.load(); });
    std::vector<fj::future<void>> others;
    auto first = a.go([&] {
      for (int i = 0; i < 20; ++i) others.push_back(fj::go([&] { ++gone_on; }));
      computes = true;
      test::spin_until([&] { return all_wait.load(); });  // it keeps the only P
    });
    test::spin_until([&] { return computes.load(); });
    const auto parks = b.stats().total().parks;
    job_may_end = true;
    test::spin_until([&] { return b.stats().total().parks > parks; });  // then the fiber is in the queue
    all_wait = true;
    for (auto& each : others) each.get();
    waits.get();
    first.get();
    CHECK(place.load() <= 6);  // some go first: the strand that computed has used up the time of those that go on soon
  }
}

TEST_CASE("two runtimes: an exception ends a runtime inside of a strand of another") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("an exception ends a runtime", p);
    fj::runtime outer(test::with_procs(p));
    const fj::channel<int> c(0);
    auto sender = outer.go([=] { c.send(1); });
    try {
      outer.run([&] {
        fj::runtime inner(test::with_procs(1));
        static_cast<void>(inner.go([=] { CHECK(c.receive() == 1); }));
        throw std::runtime_error("on its way");
      });
      CHECK(false);
    } catch (const std::runtime_error& error) {
      CHECK(error.what() == std::string("on its way"));
    }
    sender.get();
  });
}

// Tried with a destructor that keeps its P: it waits for ever.
TEST_CASE("two runtimes: a strand that ends another runtime gives its P away meanwhile") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("the end of a runtime in a strand", p);
    fj::runtime outer(test::with_procs(p));
    const fj::channel<int> c(0);
    outer.run([&] {
      std::vector<fj::future<void>> senders;
      // As many as there are P, and each waits for fibers that need them.
      std::vector<fj::future<void>> all;
      for (unsigned i = 0; i < p; ++i) {
        all.push_back(fj::go([&] {
          fj::runtime inner(test::with_procs(1));
          for (int k = 0; k < 3; ++k) static_cast<void>(inner.go([&] { CHECK(c.receive() == 1); }));
        }));
        senders.push_back(fj::go([&] {
          for (int k = 0; k < 3; ++k) c.send(1);
        }));
      }
      for (auto& each : all) each.get();
      for (auto& each : senders) each.get();
    });
  });
}
