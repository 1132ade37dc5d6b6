// What fork_join promises about exceptions: it throws the serial program's exception, finishes first everything that
// has started, and starts nothing more.
#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <tuple>

#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"

namespace {

constexpr unsigned nodes = 15;  // a binary tree of depth 3: 7 inner nodes, 8 leaves
constexpr unsigned first_leaf = 7;

enum class when { before, after };  // an inner node throws before it forks, or after its join

struct thrown {
  unsigned node;
  when moment;
  bool operator==(const thrown&) const = default;
};

// Which nodes throw, and what happened to each.
struct plan {
  std::array<bool, nodes> before{};  // for leaves: throws
  std::array<bool, nodes> after{};
  enum class state { not_started, running, finished };
  std::array<std::atomic<state>, nodes> states{};
  std::atomic<bool> early{false};  // a join ended while something below it ran

  void check_nothing_runs_below(unsigned node) {
    if (node >= first_leaf) return;
    for (const unsigned child : {2 * node + 1, 2 * node + 2}) {
      if (states[child] == state::running) early = true;
      check_nothing_runs_below(child);
    }
  }
};

struct visit {
  visit(plan& whole, unsigned node) : state(whole.states[node]) { state = plan::state::running; }
  ~visit() { state = plan::state::finished; }
  std::atomic<plan::state>& state;
};

struct serially {};

template <class Policy>
int grow(Policy policy, plan& whole, unsigned node) {
  const visit counted(whole, node);
  if (whole.before[node]) throw thrown{node, when::before};
  if (node >= first_leaf) return 1;
  const auto left = [&] { return grow(policy, whole, 2 * node + 1); };
  const auto right = [&] { return grow(policy, whole, 2 * node + 2); };
  int sum = 0;
  if constexpr (std::is_same_v<Policy, serially>) {
    sum = left();
    sum += right();
  } else {
    try {
      auto [a, b] = fj::fork_join<Policy>(left, right);
      sum = a + b;
    } catch (const thrown&) {
      whole.check_nothing_runs_below(node);
      throw;
    }
    whole.check_nothing_runs_below(node);
  }
  if (whole.after[node]) throw thrown{node, when::after};
  return sum;
}

struct ending {
  int sum = 0;
  thrown error{nodes, when::before};
  bool operator==(const ending&) const = default;
};

template <class Policy>
ending end_of(Policy policy, plan& whole) {
  ending how;
  try {
    how.sum = grow(policy, whole, 0);
  } catch (const thrown& error) {
    how.error = error;
  }
  return how;
}

// Compares one plan with the serial program. True if all is well.
template <class Policy>
bool same_as_serial(fj::runtime& rt, Policy policy, const std::array<bool, nodes>& before,
                    const std::array<bool, nodes>& after, bool in_serial_order) {
  plan expected, found;
  expected.before = found.before = before;
  expected.after = found.after = after;
  const ending serial = end_of(serially(), expected);
  if (rt.run([&] { return end_of(policy, found); }) != serial || found.early) return false;
  for (unsigned node = 0; node < nodes; ++node) {
    const auto state = found.states[node].load();
    if (state == plan::state::running) return false;
    // All nodes that the serial program runs have run. Others have run only if they were stolen, or with tasks.
    if (expected.states[node] == plan::state::finished && state != plan::state::finished) return false;
    if (in_serial_order && state != expected.states[node]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("exceptions: every combination of leaves that throw") {
  test::for_each_runtime("leaves throw", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    const unsigned step = test::divided(200u) > 50 ? 1 : 7;
    test::for_each_policy([&](auto policy) {
      const bool in_serial_order =
          p == 1 && how != test::stealing::every_fork && test::runs_first_child<decltype(policy)>;
      unsigned wrong = 0;
      for (unsigned which = 0; which < 256; which += step) {
        std::array<bool, nodes> before{};
        for (unsigned leaf = 0; leaf < 8; ++leaf) before[first_leaf + leaf] = which >> leaf & 1;
        wrong += !same_as_serial(rt, policy, before, {}, in_serial_order);
      }
      CHECK(wrong == 0);
    });
  });
}

TEST_CASE("exceptions: inner nodes throw before their fork and after their join") {
  test::for_each_runtime("inner nodes throw", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    test::for_each_policy([&](auto policy) {
      const bool in_serial_order =
          p == 1 && how != test::stealing::every_fork && test::runs_first_child<decltype(policy)>;
      test::dice dice(p);
      unsigned wrong = 0;
      for (unsigned round = 0; round < test::divided(300u); ++round) {
        std::array<bool, nodes> before{}, after{};
        for (unsigned node = 0; node < nodes; ++node) before[node] = dice.once_in(5);
        for (unsigned node = 0; node < first_leaf; ++node) after[node] = dice.once_in(3);
        wrong += !same_as_serial(rt, policy, before, after, in_serial_order);
      }
      CHECK(wrong == 0);
    });
  });
}

TEST_CASE("exceptions: of more than two branches the leftmost wins") {
  test::for_each_runtime("leftmost of five", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    test::for_each_policy([&](auto policy) {
      using policy_type = decltype(policy);
      for (unsigned which = 1; which < 32; ++which) {
        const auto branch = [which](int index) {
          return [which, index] {
            if (which >> index & 1) throw index;
          };
        };
        int caught = -1;
        try {
          rt.run([&] { fj::fork_join<policy_type>(branch(0), branch(1), branch(2), branch(3), branch(4)); });
        } catch (const int index) {
          caught = index;
        }
        CHECK(caught == std::countr_zero(which));
      }
    });
  });
}

TEST_CASE("exceptions: a slow first branch still wins over quick ones that were stolen") {
  test::for_each_runtime(
      "slow first branch",
      [](fj::runtime& rt, unsigned p, test::stealing how) {
        if (how == test::stealing::every_fork) return;  // then the second runs only after the first
        CAPTURE(p);
        std::string caught;
        try {
          rt.run([] {
            std::atomic<bool> other_threw{false};
            fj::fork_join(
                [&] {
                  test::spin_until([&] { return other_threw.load(); });
                  throw std::runtime_error("first");
                },
                [&] {
                  other_threw = true;
                  throw std::runtime_error("second");
                });
          });
        } catch (const std::exception& error) {
          caught = error.what();
        }
        CHECK(caught == "first");
      },
      2);
}

TEST_CASE("exceptions: a stolen branch is joined before the first one's exception goes on") {
  test::for_each_runtime(
      "joined before rethrow",
      [](fj::runtime& rt, unsigned p, test::stealing how) {
        if (how == test::stealing::every_fork) return;
        CAPTURE(p);
        // The stolen branch ends when the first branch's strand waits for it, or when that strand has gone on too
        // early.
        std::atomic<bool> started{false}, finished{false}, went_on{false};
        const std::uint64_t before = rt.stats().total().suspensions;
        const bool in_time = rt.run([&] {
          try {
            fj::fork_join(
                [&] {
                  test::spin_until([&] { return started.load(); });
                  throw 1;
                },
                [&] {
                  started = true;
                  test::spin_until([&] { return went_on || rt.stats().total().suspensions != before; });
                  finished = true;
                });
          } catch (const int) {
            const bool first = finished;
            went_on = true;
            return first;
          }
          return false;
        });
        CHECK(in_time);
      },
      2);
}

TEST_CASE("exceptions: with one P later siblings are not started") {
  const test::watchdog dog("later siblings", 1);
  fj::runtime rt(test::with_procs(1));
  int started = 0;
  const auto start = [&] { ++started; };
  CHECK_THROWS_AS(rt.run([&] { fj::fork_join(start, [] { throw 1; }, start, start); }), int);
  CHECK(started == 1);
  CHECK_THROWS_AS(rt.run([&] { fj::fork_join([] { throw 1; }, start, start); }), int);
  CHECK(started == 1);
}

TEST_CASE("exceptions: the thrown object itself arrives, and is destroyed once") {
  test::for_each_runtime("the object thrown", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    struct counting {
      explicit counting(std::atomic<int>& count) : live(&count) { ++*live; }
      counting(const counting& other) : live(other.live) { ++*live; }
      ~counting() { --*live; }
      std::atomic<int>* live;
    };
    std::atomic<int> live{0};
    test::for_each_policy([&](auto policy) {
      using policy_type = decltype(policy);
      const auto fail = [&] { throw counting(live); };
      for (int round = 0; round < 10; ++round) {
        CHECK_THROWS_AS(rt.run([&] { fj::fork_join<policy_type>([] {}, fail); }), counting);
        CHECK_THROWS_AS(rt.run([&] { fj::fork_join<policy_type>(fail, [] {}); }), counting);
        CHECK_THROWS_AS(rt.run([&] { fj::fork_join<policy_type>(fail, fail, fail); }), counting);
      }
    });
    CHECK(live == 0);
  });
}
