// No worker waits while there is work. If one does, the test hangs, and the watchdog names it.
//
// Each test was tried with a bug put in, as its note says.
#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"
#include "test/threads.hpp"

namespace {

// For runtimes that steal by need: with steal_every_fork the continuation runs only after the child, so a child that
// waits for its continuation would wait for ever.
template <class Body>
void for_each_greedy_runtime(const char* what, Body body) {
  test::for_each_runtime(
      what,
      [&](fj::runtime& rt, unsigned p, test::stealing how) {
        if (how == test::stealing::every_fork) return;
        CAPTURE(p);
        CAPTURE(test::name_of(how));
        for (unsigned round = 0; round < test::divided(20u); ++round) body(rt, p, how);
      },
      2);
}

// fork(fork(...fork(leaf, note), note)..., note), `depth` deep.
template <class Leaf>
void nest(int depth, std::atomic<int>& run_elsewhere, const Leaf& leaf) {
  if (depth == 0) return leaf();
  fj::fork_join([&] { nest(depth - 1, run_elsewhere, leaf); }, [&] { ++run_elsewhere; });
}

}  // namespace

TEST_CASE("greedy: the first child spins until its continuation has been run elsewhere") {
  // With dispatcher::wake left empty it hung.
  for_each_greedy_runtime("spinning child", [](fj::runtime& rt, unsigned, test::stealing) {
    std::thread::id child, continuation;
    rt.run([&] {
      std::atomic<bool> done{false};
      fj::fork_join(
          [&] {
            child = std::this_thread::get_id();
            test::spin_until([&] { return done.load(); });
          },
          [&] {
            continuation = std::this_thread::get_id();
            done = true;
          });
    });
    CHECK(child != continuation);
  });
}

TEST_CASE("greedy: three forks deep, where only the oldest record is public") {
  // The thief that has the oldest record lets the owner go on only when the other two records have been taken. Both are
  // private, because no worker was hungry when they were pushed. With forcer::force left empty it hung.
  for_each_greedy_runtime("nested spinning children", [](fj::runtime& rt, unsigned p, test::stealing how) {
    const auto before = rt.stats().total().exposures;
    rt.run([&] {
      std::atomic<bool> stolen{false}, innermost{false};
      std::atomic<int> run_elsewhere{0};
      fj::fork_join(
          [&] {
            test::spin_until([&] { return stolen.load(); });
            nest(2, run_elsewhere, [&] {
              innermost = true;
              test::spin_until([&] { return run_elsewhere == 3; });
            });
          },
          [&] {
            stolen = true;
            test::spin_until([&] { return innermost.load(); });
            ++run_elsewhere;
          });
    });
    if (p == 2 && how == test::stealing::by_need && test::may_fence_others())
      CHECK(rt.stats().total().exposures > before);
  });
}

TEST_CASE("greedy: a hundred forks deep") {
  for_each_greedy_runtime("deeply nested children", [](fj::runtime& rt, unsigned, test::stealing) {
    std::atomic<int> run_elsewhere{0};
    rt.run([&] { nest(100, run_elsewhere, [&] { test::spin_until([&] { return run_elsewhere == 100; }); }); });
    CHECK(run_elsewhere == 100);
  });
}

TEST_CASE("greedy: records left in a deque after a steal are found by a worker that looks later") {
  // The worker parks in between, because there is nothing to take. Then the owner, which finds a request, pushes and
  // spins. Without the request of parking::nothing_left it hung, and without the look before parking, too.
  for_each_greedy_runtime("push after everybody parked", [](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([&] {
      std::atomic<bool> first{false}, second{false};
      fj::fork_join([&] { test::spin_until([&] { return first.load(); }); }, [&] { first = true; });
      // Forks that no worker needs, so that there is no request until the workers park.
      for (int i = 0; i < 100; ++i) fj::fork_join([] {}, [] {});
      test::spin_until(test::all_others_sleep);
      fj::fork_join([&] { test::spin_until([&] { return second.load(); }); }, [&] { second = true; });
    });
  });
}

TEST_CASE("greedy: while the stolen part of a join is long, the owner's worker runs branches of it") {
  // P = 2: the thief's child waits for its own continuation, and only the owner's worker can run that. With join_slow
  // waiting on the spot (while (!stolen.finished()) yield) it hung.
  for_each_greedy_runtime("branches instead of waiting", [](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([&] {
      std::atomic<bool> stolen{false}, helped{false};
      fj::fork_join([&] { test::spin_until([&] { return stolen.load(); }); },
                    [&] {
                      stolen = true;
                      fj::fork_join([&] { test::spin_until([&] { return helped.load(); }); }, [&] { helped = true; });
                    });
    });
  });
}

TEST_CASE("greedy: while the stolen part of a join is long, the owner's P runs another thread's job") {
  // With join_slow waiting on the spot it hung.
  for_each_greedy_runtime("jobs instead of waiting", [](fj::runtime& rt, unsigned p, test::stealing) {
    std::atomic<bool> stolen{false}, helped{false};
    std::atomic<pid_t> caller{0};
    std::thread other([&] {
      test::spin_until([&] { return stolen.load(); });
      caller = gettid();
      rt.run([&] { helped = true; });
    });
    rt.run([&] {
      fj::fork_join(
          [&] {
            test::spin_until([&] { return stolen.load(); });
            // Both P are busy now, so the other job has to queue, and its caller sleeps.
            test::spin_until([&] { return caller != 0 && (p > 2 || test::sleeps(caller)); });
          },
          [&] {
            stolen = true;
            test::spin_until([&] { return helped.load(); });
          });
    });
    other.join();
    CHECK(helped);
  });
}

TEST_CASE("greedy: the last to arrive at a join goes on, also if that is the thief") {
  // The thief's own child waits until the owner's worker has run the thief's continuation: by then the owner has left
  // its stack in the join. So the thief comes last, and must go on with the code after it. With join_slow waiting on
  // the spot it hung.
  for_each_greedy_runtime("thief goes on", [](fj::runtime& rt, unsigned p, test::stealing) {
    std::thread::id end_of_thief, after_join;
    rt.run([&] {
      std::atomic<bool> stolen{false}, helped{false};
      fj::fork_join([&] { test::spin_until([&] { return stolen.load(); }); },
                    [&] {
                      stolen = true;
                      fj::fork_join([&] { test::spin_until([&] { return helped.load(); }); }, [&] { helped = true; });
                      end_of_thief = std::this_thread::get_id();
                    });
      after_join = std::this_thread::get_id();
    });
    if (p == 2) CHECK(end_of_thief == after_join);
  });
}

TEST_CASE("greedy: an owner that arrives last goes on on its own thread") {
  for_each_greedy_runtime("owner goes on", [](fj::runtime& rt, unsigned, test::stealing) {
    std::thread::id end_of_child, after_join;
    rt.run([&] {
      std::atomic<pid_t> thief{0};
      fj::fork_join(
          [&] {
            test::spin_until(
                [&] { return thief != 0 && test::sleeps(thief); });  // the thief has arrived, and found nothing to do
            end_of_child = std::this_thread::get_id();
          },
          [&] { thief = gettid(); });
      after_join = std::this_thread::get_id();
    });
    CHECK(end_of_child == after_join);
  });
}

TEST_CASE("greedy: as many branches as there are P run at once") {
  test::for_each_runtime(
      "all P at once",
      [](fj::runtime& rt, unsigned p, test::stealing how) {
        if (how == test::stealing::every_fork) return;
        struct meeting {
          unsigned guests;
          std::atomic<unsigned> present{0};
          void attend() {
            ++present;
            test::spin_until([&] { return present == guests; });
          }
          void spread(unsigned n) {
            if (n == 1) return attend();
            fj::fork_join([=, this] { spread(n / 2); }, [=, this] { spread(n - n / 2); });
          }
        };
        for (unsigned round = 0; round < test::divided(5u); ++round) {
          meeting all{p};
          rt.run([&] { all.spread(p); });
          CHECK(all.present == p);
          // The same in a flat loop of forks, where each rest contains the next.
          meeting again{p};
          struct chain {
            static void link(meeting& m, unsigned n) {
              if (n == 1) return m.attend();
              fj::fork_join([&] { m.attend(); }, [&, n] { link(m, n - 1); });
            }
          };
          rt.run([&] { chain::link(again, p); });
          CHECK(again.present == p);
        }
      },
      2);
}

TEST_CASE("greedy: other workers run tasks while their caller is busy") {
  for_each_greedy_runtime("busy caller of tasks", [](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([&] {
      std::atomic<bool> done{false};
      fj::fork_join<fj::tasks>([&] { done = true; }, [&] { test::spin_until([&] { return done.load(); }); });
    });
  });
}
