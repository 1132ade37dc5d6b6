// What fork_join does with closures and results: what of them is there, in which order, and when it ends.
#include "forkjoin/fork_join.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "test/forks.hpp"

namespace {

using test::everywhere;
using test::fib;
using test::fork;

// Counts the objects alive, so that the test sees a result that is constructed twice or never destroyed.
struct counted {
  explicit counted(std::atomic<int>& count) : live(&count) { ++*live; }
  counted(counted&& other) noexcept : live(other.live) { ++*live; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --*live; }
  std::atomic<int>* live;
};

template <std::size_t Size>
using bytes = std::array<unsigned char, Size>;

// Closures of `Closure` bytes with results of `Result` bytes. All bytes differ between two closures or results.
template <std::size_t Closure, std::size_t Result, class Policy>
void fork_bytes(fj::runtime& rt, Policy policy) {
  CAPTURE(Closure);
  CAPTURE(Result);
  const auto make = [](unsigned char from) {
    bytes<Closure> held;
    std::iota(held.begin(), held.end(), from);
    return [held] {
      bytes<Result> result;
      for (std::size_t i = 0; i < Result; ++i) result[i] = static_cast<unsigned char>(held[i % Closure] + i);
      return result;
    };
  };
  static_assert(sizeof(make(0)) == Closure);
  const auto [a, b] = rt.run([&] { return fork(policy, make(1), make(100)); });
  CHECK(a == make(1)());
  CHECK(b == make(100)());
}

}  // namespace

TEST_CASE("fork_join: recursion") {
  everywhere("recursion", [](fj::runtime& rt, auto policy) { CHECK(rt.run([=] { return fib(policy, 15); }) == 610); });
}

TEST_CASE("fork_join: results are destroyed once") {
  everywhere("lifetime", [](fj::runtime& rt, auto policy) {
    std::atomic<int> live{0};
    const auto make = [&] { return counted(live); };
    const int inside = rt.run([&] {
      auto three = fork(policy, make, make, make);
      return live.load();
    });
    CHECK(inside == 3);
    CHECK(live == 0);
    // Also when no caller takes them.
    const auto fail = []() -> int { throw 1; };
    CHECK_THROWS_AS(rt.run([&] { return fork(policy, fail, make); }), int);
    CHECK(live == 0);
    CHECK_THROWS_AS(rt.run([&] { return fork(policy, make, fail); }), int);
    CHECK(live == 0);
    CHECK_THROWS_AS(rt.run([&] { return fork(policy, make, fail, make); }), int);
    CHECK(live == 0);
  });
}

// With clang a fork of closures that fit into registers is a function; other forks are not. Tried with a function that
// mixes its results up.
TEST_CASE("fork_join: small closures and results, and some that are slightly too large for registers") {
  everywhere("bytes", [](fj::runtime& rt, auto policy) {
    fork_bytes<16, 8>(rt, policy);
    fork_bytes<17, 8>(rt, policy);
    const auto [x, y] = rt.run([&] { return fork(policy, [] { return 1.5; }, [] { return 2; }); });
    CHECK(x == 1.5);
    CHECK(y == 2);
    CHECK_THROWS_AS(rt.run([&] { return fork(policy, []() -> int { throw 1; }, [] { return 2L; }); }), int);
    CHECK_THROWS_AS(rt.run([&] { return fork(policy, [] { return 1.5; }, []() -> char { throw 'c'; }); }), char);
  });
}

TEST_CASE("fork_join: changes of small trivial closures are visible, if these are lvalues and not passed on by value") {
  // A stolen closure may be a copy (documented: small trivial ones are), so a program must not rely on the closure's
  // own state. It may rely on objects that the closure refers to.
  everywhere("state", [](fj::runtime& rt, auto policy) {
    long sum[2] = {0, 0};
    rt.run([&] {
      for (long i = 0; i < 100; ++i) fork(policy, [&, i] { sum[0] += i; }, [&, i] { sum[1] += 2 * i; });
    });
    CHECK(sum[0] == 4950);
    CHECK(sum[1] == 9900);
  });
}

TEST_CASE("fork_join: a mix of the policies") {
  test::for_each_runtime("mix", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    struct mixed {
      static long fib(int n) {
        if (n < 2) return n;
        const auto left = [=] { return fib(n - 1); };
        const auto right = [=] { return fib(n - 2); };
        auto [a, b] = n % 3 ? fj::fork_join(left, right) : fj::fork_join<fj::tasks>(left, right);
        return a + b;
      }
    };
    CHECK(rt.run([] { return mixed::fib(16); }) == 987);
  });
}

TEST_CASE("fork_join outside of a runtime: results and exceptions as inside") {
  const test::watchdog dog("fork_join outside, exceptions", fj::procs());
  test::for_each_policy([](auto policy) {
    constexpr bool in_order = test::runs_first_child<decltype(policy)>;
    CHECK_THROWS_WITH_AS(
        fork(
            policy, [] { throw std::runtime_error("first"); }, [] { throw std::runtime_error("second"); }),
        "first", std::runtime_error);
    bool second_ran = false;
    CHECK_THROWS_AS(fork(policy, [] { throw 1; }, [&] { second_ran = true; }), int);
    // A thief may have been faster than the exception.
    if (in_order && fj::procs() == 1) CHECK(!second_ran);

    const auto token = std::make_shared<int>(7);
    CHECK_THROWS_AS(fork(policy, [=] { return token; }, [=]() -> decltype(token) { throw 1; }), int);
    CHECK_THROWS_AS(fork(policy, [=]() -> decltype(token) { throw 1; }, [=] { return token; }), int);
    CHECK(token.use_count() == 1);
    {
      auto [a, b, none] = fork(policy, [=] { return token; }, [&]() -> const auto& { return token; }, [] {});
      CHECK(a == token);
      CHECK(&b == &token);
      CHECK(token.use_count() == 2);
    }
    auto [x, y] = fork(policy, [] { return std::make_unique<int>(1); }, [] { return std::make_unique<int>(2); });
    CHECK(*x + *y == 3);
    CHECK(token.use_count() == 1);
  });
}
