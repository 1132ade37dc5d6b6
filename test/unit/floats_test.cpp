// The floating-point environment: a job starts with its caller's rounding mode, and so does every stolen part of it.
#include <doctest/doctest.h>

#include <cfenv>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/scope.hpp"
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

// What the mode does, not what a register says.
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

TEST_CASE("floats: all branches see the rounding mode of whoever called run") {
  if (!modes_work()) return;
  // With the job's mode not set at the start of a stolen branch it failed.
  test::for_each_runtime("rounding mode", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    test::for_both_policies([&](auto policy) {
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

TEST_CASE("floats: a record that a waiting task runs on top of itself has its job's mode, not that of the task") {
  if (!modes_work()) return;
  const test::watchdog dog("mode on top", 2);
  fj::runtime rt(test::with_procs(2));
  std::atomic<int> wrong{0};
  for (unsigned round = 0; round < test::divided(100u); ++round)
    rt.run([&] {
      std::atomic<bool> stolen{false}, done{false};
      // The thief takes the first task. As soon as the owner waits for it, the thief forks another, which the owner then
      // runs on top of its join. No yielding here: the owner does not look for long.
      fj::fork_join<fj::tasks>(
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
