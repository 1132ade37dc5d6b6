// With one P the order is the serial program's (first child first), or its mirror image at every fork (last child
// first).
#include <doctest/doctest.h>

#include <vector>

#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"

namespace {

enum class order { serial, mirrored };

template <order Order>
struct in_order {
  template <class... F>
  static void fork(F&&... f) {
    if constexpr (Order == order::serial) {
      (f(), ...);
    } else {
      // The comma operator with the closures turned around.
      int unused = 0;
      ((f(), unused) = ... = 0);
    }
  }
};

template <class Policy>
struct in_parallel {
  template <class... F>
  static void fork(F&&... f) {
    fj::fork_join<Policy>(std::forward<F>(f)...);
  }
};

// Walks a random tree, and records the nodes.
template <class How>
void walk(std::uint64_t seed, int depth, std::vector<std::uint64_t>& trace) {
  test::dice dice(seed);
  trace.push_back(seed);
  if (depth == 0 || dice.once_in(6)) return;
  const auto child = [&](int index) {
    return [&trace, depth, seed, index] {
      walk<How>(test::dice(seed + static_cast<unsigned>(index)).next(), depth - 1, trace);
    };
  };
  for (unsigned forks = 1 + dice.below(2); forks > 0; --forks) {
    switch (dice.below(3)) {
      case 0:
        How::fork(child(0), child(1));
        break;
      case 1:
        How::fork(child(2), child(3), child(4));
        break;
      default:
        How::fork(child(5), child(6), child(7), child(8));
        break;
    }
    trace.push_back(~seed);
  }
}

template <class How>
std::vector<std::uint64_t> trace_of(std::uint64_t seed) {
  std::vector<std::uint64_t> trace;
  walk<How>(seed, 6, trace);
  return trace;
}

}  // namespace

TEST_CASE_TEMPLATE("order: with one P the trace of a random fork tree is the serial one", Policy, test::first_leave,
                   test::first_top, test::first_leap) {
  for (const auto how : {test::stealing::by_need, test::stealing::all_public, test::stealing::by_signal}) {
    const test::fences fences(how);
    const test::watchdog dog("order", 1);
    fj::runtime rt(test::with(1, how));
    CAPTURE(test::name_of(how));
    for (std::uint64_t seed = 1; seed <= test::divided(60u); ++seed) {
      CAPTURE(seed);
      CHECK(rt.run([=] { return trace_of<in_parallel<Policy>>(seed); }) == trace_of<in_order<order::serial>>(seed));
    }
  }
}

TEST_CASE_TEMPLATE("order: with one P the last child comes first", Policy, test::last_leave, test::last_top,
                   test::last_leap) {
  for (const auto how : {test::stealing::by_need, test::stealing::all_public, test::stealing::by_signal}) {
    const test::fences fences(how);
    const test::watchdog dog("last child first", 1);
    fj::runtime rt(test::with(1, how));
    std::vector<int> trace;
    const auto note = [&](int i) { return [&trace, i] { trace.push_back(i); }; };
    rt.run([&] { fj::fork_join<Policy>(note(1), note(2), note(3)); });
    CHECK(trace == std::vector{3, 2, 1});
    for (std::uint64_t seed = 1; seed <= test::divided(60u); ++seed) {
      CAPTURE(seed);
      CHECK(rt.run([=] { return trace_of<in_parallel<Policy>>(seed); }) == trace_of<in_order<order::mirrored>>(seed));
    }
  }
}

TEST_CASE("order: branches see what came before the fork, and code after the join sees what they did") {
  test::for_each_runtime("visibility", [](fj::runtime& rt, unsigned p, test::stealing) {
    CAPTURE(p);
    unsigned wrong = 0;
    for (unsigned round = 0; round < test::divided(300u); ++round) {
      int before = 0, a = 0, b = 0, c = 0;  // plain, so that a race detector checks them, too
      rt.run([&] {
        before = 1;
        fj::fork_join([&] { a = before; }, [&] { fj::fork_join([&] { b = before + 1; }, [&] { c = before + 2; }); });
        wrong += a + b + c != 6;
      });
    }
    CHECK(wrong == 0);
  });
}
