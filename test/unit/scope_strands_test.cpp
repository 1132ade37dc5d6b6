// Scopes that several strands fork into, and scopes whose strands begin and end meanwhile.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "forkjoin/go.hpp"
#include "test/support.hpp"
#include "test/threads.hpp"

namespace {

using test::for_each_runtime;
using test::stealing;

struct failure : std::runtime_error {
  explicit failure(int n) : std::runtime_error(std::to_string(n)), number(n) {}
  int number;
};

}  // namespace

// If the number of a fork from another strand is the mark of a fork that was left out (tried), the join threw
// fj::cancelled, and the exception was never freed.
TEST_CASE("scope: the exception of a fork from another strand leaves the join") {
  for_each_runtime("scope: exceptions from other strands", [](fj::runtime& rt, unsigned, stealing how) {
    CAPTURE(test::name_of(how));
    int thrown = 0;
    rt.run([&] {
      for (int i = 0; i < 100; ++i) {
        fj::scope s;
        try {
          s.fork([&s] {
            try {
              s.fork([] { throw failure(7); });  // if not stolen, the exception leaves here
            } catch (const failure&) {
              throw failure(8);
            }
          });
          s.join();
        } catch (const failure& e) {
          thrown += e.number == 7 || e.number == 8;
        }
        s.join();  // the join leaves no exception
      }
    });
    CHECK(thrown == 100);
  });
}

// If a join sets the count to zero, instead of taking off what it has joined, this hung, or ended a scope with children
// in it. If the constant stays until the strand goes on, the strand was resumed twice.
TEST_CASE("scope: joins of one strand while another forks into it") {
  for_each_runtime("scope: join and fork", [](fj::runtime& rt, unsigned, stealing how) {
    CAPTURE(test::name_of(how));
    // A few joins in each round, so that strands meet while one of them begins or ends.
    const int rounds = test::divided(how == stealing::by_need ? 200 : 100);
    for (int round = 0; round < rounds; ++round) {
      long mine = 0, forked = 0;
      std::atomic<long> others{0};
      std::atomic<bool> over{false};
      rt.run([&] {
        fj::scope s;
        fj::fork_join(
            [&] {
              for (int i = 0; i < 100; ++i) {
                s.fork([&mine] { ++mine; });
                s.join();
              }
              over = true;
            },
            [&] {
              do {
                s.fork([&others] { ++others; });
                ++forked;
              } while (!over && forked < 2000);
            });
        s.join();
        CHECK(others == forked);
      });
      CHECK(mine == 100);
    }
  });
}

TEST_CASE("scope: no forks from another runtime") {
  for_each_runtime("scope: other runtime", [](fj::runtime& rt, unsigned, stealing how) {
    CAPTURE(test::name_of(how));
    fj::runtime other(test::with_procs(2));
    rt.run([&] {
      fj::scope s;
      s.fork([] {});
      other.run([&] {
        CHECK_THROWS_AS(s.fork([] {}), std::logic_error);
        CHECK_THROWS_AS(s.join(), std::logic_error);
      });
      int ran = 0;
      s.fork([&ran] { ran = 1; });
      s.join();
      CHECK(ran == 1);
    });
  });
}

// If fork keeps the worker of before the copy, the child ran on another thread's deque.
TEST_CASE("scope: a closure that forks while it is copied") {
  struct copied_in_parallel {
    explicit copied_in_parallel(std::atomic<int>& to) : n(to) {}
    copied_in_parallel(const copied_in_parallel& other) : n(other.n) {
      fj::fork_join([this] { ++n; }, [this] { ++n; });
      fj::scope s;
      for (int i = 0; i < 5; ++i) s.fork([this] { ++n; });
    }
    void operator()() const { ++n; }
    std::atomic<int>& n;
  };
  for_each_runtime("scope: parallel copies", [](fj::runtime& rt, unsigned, stealing how) {
    CAPTURE(test::name_of(how));
    std::atomic<int> n{0};
    rt.run([&] {
      fj::scope s;
      const copied_in_parallel f(n);
      for (int i = 0; i < 200; ++i) s.fork(f);
    });
    CHECK(n == 200 * 8);
  });
}

// If such a call is not counted (tried), the join went on before it had ended.
TEST_CASE("scope: what another strand calls on its own stack, as it is too large for another, is joined") {
  struct wide {
    std::array<char, 40'000> more_than_half_of_a_stack{};
  };
  for (const unsigned p : {1u, 2u, 8u}) {
    const test::watchdog dog("scope: on its own stack", p);
    fj::options how = test::with_procs(p);
    how.stack_size = 64 * 1024;
    how.go_stack_size = 1024 * 1024;
    fj::runtime rt(how);
    int joined = 0, thrown = 0;
    rt.run([&] {
      for (int i = 0; i < 20; ++i) {
        fj::scope s;
        fj::latch begun(1);
        bool ended = false;
        auto other = fj::go([&] {
          s.fork([&, w = wide()] {
            begun.count_down();
            for (int n = 0; n < 50; ++n) fj::yield();
            ended = w.more_than_half_of_a_stack[0] == 0;
            throw failure(7);
          });
        });
        begun.wait();
        s.join();
        joined += ended;
        try {
          other.get();
        } catch (const failure&) {
          ++thrown;
        }
      }
    });
    CHECK(joined == 20);
    CHECK(thrown == 20);
  }
}

// A child runs on a stack that is used for the first time. It waits in a join, goes on on the other worker, and forks a
// branch that the first worker must take. That is the thread that called run, which takes records of its own job only.
// If a strand that leaves its stack does not set the fiber's job (tried), this crashes or hangs.
TEST_CASE("scope: a child that goes on elsewhere belongs to its job") {
  for (unsigned round = 0; round < test::divided(5u); ++round) {
    const test::watchdog dog("scope: a child's job", 2);
    fj::runtime rt(test::with_procs(2));
    const pid_t caller = gettid();
    rt.run([&] {
      fj::scope s;
      s.fork([&] {
        std::atomic<bool> stolen{false}, taken{false};
        fj::fork_join(
            [&] { test::spin_until([&] { return stolen.load(); }); },
            [&] {
              const std::uint64_t before = rt.stats().total().suspensions;
              stolen = true;
              // Counted just before it leaves. Then its worker, which finds nothing, sleeps.
              test::spin_until([&] { return rt.stats().total().suspensions != before && test::sleeps(caller); });
            });
        fj::fork_join([&] { test::spin_until([&] { return taken.load(); }); }, [&] { taken = true; });
      });
      s.join();
    });
  }
}

// If the stack that the copy forked onto is forgotten (tried), each fork leaves one more stack in use.
TEST_CASE("scope: a closure that forks while it is copied loses no stack") {
  struct copied_with_fork {
    explicit copied_with_fork(int& to) : n(to) {}
    copied_with_fork(const copied_with_fork& other) : n(other.n) {
      fj::scope s;
      s.fork([this] { ++n; });
    }
    void operator()() const { ++n; }
    int& n;
  };
  fj::runtime rt(test::with_procs(1));
  int n = 0;
  rt.run([&] {
    fj::scope s;
    const copied_with_fork f(n);
    for (int i = 0; i < 50; ++i) s.fork(f);
  });
  CHECK(n == 100);
  CHECK(rt.stats().stacks_peak <= 5);
  CHECK(rt.stats().stacks_in_use == 0);
}
