// The floating-point environment: a job starts with its caller's rounding mode, and so does every stolen part of it.
#include <doctest/doctest.h>

#include <cfenv>
#include <cstdint>
#include <thread>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/scope.hpp"
#include "runtime/os/context/context.hpp"
#include "test/support.hpp"

namespace {

constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

class rounding {
 public:
  explicit rounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~rounding() { std::fesetround(before_); }
  rounding(const rounding&) = delete;
  rounding& operator=(const rounding&) = delete;

 private:
  const int before_;
};

// Tests the effect of the mode, not the value of a register.
bool rounds(int mode) {
  volatile double one = 1, three = 3, minus = -1;
  const double third = one / three, minus_third = minus / three;
  const bool up = third > 0.33333333333333331, minus_up = minus_third > -0.33333333333333337;
  switch (mode) {
    case FE_UPWARD:
      return up && minus_up;
    case FE_DOWNWARD:
      return !up && !minus_up;
    case FE_TOWARDZERO:
      return !up && minus_up;
    default:
      return !up && minus_up;
  }
}

// Valgrind computes with its own rounding for some operations.
bool modes_work() {
  bool all = true;
  for (const int mode : modes) {
    const rounding chosen(mode);
    all = all && rounds(mode);
  }
  if (!all) MESSAGE("skipped: this machine, perhaps an emulated one, does not heed the rounding mode");
  return all;
}

template <class Policy>
void look(Policy policy, int depth, int mode, std::atomic<int>& wrong) {
  if (std::fegetround() != mode || !rounds(mode)) ++wrong;
  if (depth > 0) {
    fj::fork_join<Policy>([&] { look(policy, depth - 1, mode, wrong); }, [&] { look(policy, depth - 1, mode, wrong); });
  }
  if (std::fegetround() != mode || !rounds(mode)) ++wrong;
}

}  // namespace

TEST_CASE("floats: all branches see the rounding mode of the caller of run") {
  if (!modes_work()) return;
  // Without setting the job's mode at the start of a stolen branch this failed.
  test::for_each_runtime("rounding mode", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    test::for_each_policy([&](auto policy) {
      std::atomic<int> wrong{0};
      for (unsigned round = 0; round < test::divided(20u); ++round)
        for (const int mode : modes) {
          const rounding chosen(mode);
          rt.run([&] { look(policy, 5, mode, wrong); });
          if (std::fegetround() != mode) ++wrong;
        }
      CHECK(wrong == 0);
    });
  });
}

TEST_CASE("floats: jobs of different modes at the same time") {
  if (!modes_work()) return;
  test::for_each_runtime("mixed modes", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (const int mode : modes)
      threads.emplace_back([&, mode] {
        const rounding chosen(mode);
        for (unsigned round = 0; round < test::divided(20u); ++round)
          rt.run([&] { look(fj::continuations(), 5, mode, wrong); });
      });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
  });
}

TEST_CASE("floats: a mode set by a stolen branch ends with it") {
  if (!modes_work()) return;
  test::for_each_runtime(
      "leaking mode",
      [](fj::runtime& rt, unsigned p, test::stealing how) {
        if (how == test::stealing::every_fork) return;
        CAPTURE(p);
        std::atomic<int> wrong{0};
        for (unsigned round = 0; round < test::divided(50u); ++round)
          rt.run([&] {
            std::atomic<bool> set{false};
            fj::fork_join([&] { test::spin_until([&] { return set.load(); }); },
                          [&] {
                            if (std::fegetround() != FE_TONEAREST) ++wrong;
                            std::fesetround(FE_UPWARD);
                            set = true;
                          });
            if (std::fegetround() != FE_TONEAREST) ++wrong;
            look(fj::continuations(), 4, FE_TONEAREST, wrong);
          });
        CHECK(wrong == 0);
        CHECK(std::fegetround() == FE_TONEAREST);
      },
      2);
}

TEST_CASE("floats: a strand keeps its own mode across its joins") {
  if (!modes_work()) return;
  test::for_each_runtime("own mode", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    std::atomic<int> wrong{0};
    for (unsigned round = 0; round < test::divided(20u); ++round)
      rt.run([&] {
        const rounding chosen(FE_DOWNWARD);
        fj::fork_join([&] { fj::fork_join([] {}, [] {}); }, [&] { fj::fork_join([] {}, [] {}); });
        if (std::fegetround() != FE_DOWNWARD) ++wrong;
      });
    CHECK(wrong == 0);
  });
}

TEST_CASE_TEMPLATE(
    "floats: a record that a waiting strand runs on top of itself has its job's mode, not that of the strand", Policy,
    test::last_top, test::last_leap) {
  if (!modes_work()) return;
  const test::watchdog dog("mode on top", 2);
  fj::runtime rt(test::with_procs(2));
  std::atomic<int> wrong{0};
  for (unsigned round = 0; round < test::divided(100u); ++round)
    rt.run([&] {
      std::atomic<bool> stolen{false}, done{false};
      // The thief takes the first task. As soon as the owner waits for it, the thief forks another, which the owner
      // then runs on top of its join. The thief does not yield here, because the owner does not look for long.
      fj::fork_join<Policy>(
          [&] {
            const auto waits = rt.stats().total().join_waits;
            stolen = true;
            while (rt.stats().total().join_waits == waits) {}
            fj::fork_join<fj::tasks>(
                [&] {
                  if (std::fegetround() != FE_TONEAREST) ++wrong;
                  done = true;
                },
                [&] { test::spin_until([&] { return done.load(); }); });
          },
          [&] {
            test::spin_until([&] { return stolen.load(); });
            std::fesetround(FE_UPWARD);
          });
      if (std::fegetround() != FE_UPWARD) ++wrong;
      std::fesetround(FE_TONEAREST);
    });
  CHECK(wrong == 0);
}

// With return_to leaving either control word as it is (tried), the thief goes on in the mode of the job.
TEST_CASE("floats: what follows a scope's fork has the mode of what came before, also on another thread") {
  if (!modes_work()) return;
  test::for_each_runtime("mode after a scope's fork", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    int wrong = 0;
    for (const int mode : modes)
      rt.run([&] {
        const rounding chosen(mode);
        std::atomic<bool> went_on{false};
        fj::scope s;
        s.fork([&] {
          if (p > 1) test::spin_until([&] { return went_on.load(); });
        });
        if (std::fegetround() != mode || !rounds(mode)) ++wrong;
        went_on = true;
        s.join();
        if (std::fegetround() != mode || !rounds(mode)) ++wrong;
      });
    CHECK(wrong == 0);
  });
}

namespace {

using fj::detail::os::float_environment;
using fj::detail::os::get_float_environment;
using fj::detail::os::set_float_environment;

// The control words without the flags of past exceptions: rounding, underflow, which exceptions trap.
bool same(float_environment a, float_environment b) {
#if defined(__x86_64__)
  constexpr unsigned flags = 0x3f;
  a.control &= ~flags;
  b.control &= ~flags;
#endif
  return a.control == b.control && a.x87_control == b.x87_control;
}

// Changes every kind of word: rounding, exceptions that trap, and on x86-64 denormal numbers taken for zero.
class other_words {
 public:
  explicit other_words(int mode) {
    std::fesetround(mode);
    feenableexcept(FE_DIVBYZERO);
#if defined(__x86_64__)
    float_environment flushing = get_float_environment();
    flushing.control |= 0x8040;
    set_float_environment(flushing);
#endif
  }
  ~other_words() { set_float_environment(before_); }
  other_words(const other_words&) = delete;
  other_words& operator=(const other_words&) = delete;

 private:
  const float_environment before_ = get_float_environment();
};

std::uintptr_t place_on_stack() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

// Whether this stack has the place on it, close by.
bool is_on_stack_of(std::uintptr_t place) {
  const std::uintptr_t here = place_on_stack();
  return (here < place ? place - here : here - place) < (1 << 18);
}

}  // namespace

// As forkjoin/guide/guarantees.md says under "When not to use it". If a stolen branch begins with its thief's words
// (tried), it does not have the job's.
TEST_CASE("floats: a stolen branch begins with the words of the caller of run, an unstolen one with its parent's") {
  test::for_each_runtime("words at a fork", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::atomic<int> wrong{0}, stolen{0};
    for (unsigned round = 0; round < test::divided(20u); ++round)
      for (const int mode : {FE_UPWARD, FE_TOWARDZERO}) {
        const rounding callers(FE_DOWNWARD);
        const float_environment of_job = get_float_environment();
        rt.run([&] {
          if (!same(get_float_environment(), of_job)) ++wrong;
          {
            const other_words chosen(mode);
            const float_environment parents = get_float_environment();
            const std::uintptr_t parent = place_on_stack();
            fj::fork_join(
                [&] {
                  if (!same(get_float_environment(), parents)) ++wrong;
                },
                [&] {
                  const bool here = is_on_stack_of(parent);
                  if (!here) ++stolen;
                  if (!same(get_float_environment(), here ? parents : of_job)) ++wrong;
                });
            if (!same(get_float_environment(), parents)) ++wrong;
          }
          if (!same(get_float_environment(), of_job)) ++wrong;
        });
      }
    CHECK(wrong == 0);
    if (how == test::stealing::every_fork) CHECK(stolen == static_cast<int>(2 * test::divided(20u)));
    if (how != test::stealing::every_fork && p == 1) CHECK(stolen == 0);
  });
}

TEST_CASE("floats: a scope's child begins with its parent's words, and what follows the fork keeps them") {
  test::for_each_runtime("words at a scope's fork", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::atomic<int> wrong{0};
    for (unsigned round = 0; round < test::divided(20u); ++round)
      rt.run([&] {
        const other_words chosen(FE_UPWARD);
        const float_environment own = get_float_environment();
        fj::scope s;
        for (int i = 0; i < 3; ++i) {
          s.fork([&] {
            if (!same(get_float_environment(), own)) ++wrong;
          });
          if (!same(get_float_environment(), own)) ++wrong;
        }
        s.join();
        if (!same(get_float_environment(), own)) ++wrong;
      });
    CHECK(wrong == 0);
  });
}

TEST_CASE("floats: words set in each branch hold in each, stolen or not") {
  test::for_each_runtime("words set in branches", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::atomic<int> wrong{0};
    rt.run([&] {
      const float_environment before = get_float_environment();
      const auto branch = [&] {
        const other_words chosen(FE_UPWARD);
        const float_environment own = get_float_environment();
        fj::fork_join([] {}, [] {});
        if (!same(get_float_environment(), own) || std::fegetround() != FE_UPWARD) ++wrong;
      };
      for (unsigned round = 0; round < test::divided(20u); ++round) fj::fork_join(branch, branch);
      if (!same(get_float_environment(), before)) ++wrong;
    });
    CHECK(wrong == 0);
  });
}
