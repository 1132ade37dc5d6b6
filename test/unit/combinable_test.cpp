// Worker-local accumulators: nothing is added twice or lost, nobody shares a value, also across migrations.
#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "forkjoin/combinable.hpp"
#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"

namespace {

struct counter {
  explicit counter(std::atomic<int>& living) : alive(living) { ++alive; }
  counter(const counter& other) : alive(other.alive), count(other.count) { ++alive; }
  ~counter() { --alive; }
  std::atomic<int>& alive;
  long count = 0;  // plain: ThreadSanitizer sees two strands that share it
  std::atomic<bool> in_use = false;
};

// A tree whose nodes hold a value while they fork, so they may migrate with it.
long grow(fj::combinable<counter>& values, std::atomic<bool>& shared, int depth) {
  {
    auto mine = values.local();
    if (mine->in_use.exchange(true)) shared = true;
    ++mine->count;
    if (depth > 0) {
      fj::fork_join([&] { grow(values, shared, depth - 1); }, [&] { grow(values, shared, depth - 1); });
    }
    ++mine->count;
    mine->in_use = false;
  }
  return 0;
}

}  // namespace

// Tried with handles that leave the value in its slot: strands that migrate share it, and counts get lost.
TEST_CASE("strands that fork and migrate while they hold a value share it with nobody") {
  const int depth = test::divisor() > 1 ? 8 : 11;
  test::for_each_runtime("combinable", [&](fj::runtime& rt, unsigned, test::stealing) {
    std::atomic<int> living = 0;
    {
      fj::combinable<counter> values([&] { return counter(living); });
      std::atomic<bool> shared = false;
      for (int round = 0; round != 3; ++round) rt.run([&] { grow(values, shared, depth); });
      CHECK(!shared);
      long sum = 0;
      int made = 0;
      values.for_each([&](const counter& one) {
        sum += one.count;
        ++made;
      });
      CHECK(sum == 3 * 2 * ((2L << depth) - 1));
      CHECK(made == living);
      CHECK(made >= depth + 1);  // one strand holds as many at once
      values.clear();
      CHECK(living == 0);
    }
    CHECK(living == 0);
  });
}

// Each branch gives its value back before the next begins, so there are hardly more values than strands at a time.
TEST_CASE("values are used again") {
  test::for_each_runtime("combinable again", [&](fj::runtime& rt, unsigned p, test::stealing) {
    fj::combinable<long> sum;
    const std::function<void(int)> tree = [&](int depth) {
      if (depth == 0) {
        sum.with_local([](long& mine) { ++mine; });
      } else {
        fj::fork_join([&] { tree(depth - 1); }, [&] { tree(depth - 1); });
      }
    };
    rt.run([&] { tree(10); });
    CHECK(sum.combine(std::plus<>()) == 1024);
    unsigned made = 0;
    sum.for_each([&](long) { ++made; });
    CHECK(made <= p);
  });
}

TEST_CASE("threads outside of a runtime, handles that are moved, and values that cannot be made") {
  fj::combinable<long> sum;
  CHECK(sum.combine(std::plus<>()) == 0);
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i != 1000; ++i) {
        auto mine = sum.local();
        auto moved = std::move(mine);
        ++*moved;
        mine = std::move(moved);
        ++*mine;
      }
    });
  }
  for (std::thread& one : threads) one.join();
  CHECK(sum.combine(std::plus<>()) == 8000);
  const auto& seen = sum;
  long all = 0;
  seen.for_each([&](const long& one) { all += one; });
  CHECK(all == 8000);
  sum.clear();
  CHECK(sum.combine(std::plus<>()) == 0);

  fj::combinable<int> unlucky([]() -> int { throw std::runtime_error("not today"); });
  CHECK_THROWS_AS(static_cast<void>(unlucky.local()), std::runtime_error);
  unlucky.for_each([](int) { FAIL("there is none"); });
}

// With the values of the slots or those besides left where they were (each tried), they are handed out again.
TEST_CASE("what was cleared begins anew, and what was never there is made") {
  fj::combinable<int> five([] { return 5; });
  CHECK(five.combine(std::plus<>()) == 5);
  for (int round = 0; round != 2; ++round) {
    {
      auto one = five.local();
      auto other = five.local();
      CHECK(*one + *other == 10);
      *one = *other = 7;
    }
    CHECK(five.combine(std::plus<>()) == 14);
    five.clear();
    CHECK(five.combine(std::plus<>()) == 5);
  }
}

// With values that no slot has room for left out (tried), there is a new one each time.
TEST_CASE("two values held at once are used again") {
  fj::combinable<int> values;
  for (int i = 0; i != 100; ++i) {
    auto one = values.local();
    auto other = values.local();
    ++*one;
    ++*other;
  }
  int made = 0;
  values.for_each([&](int) { ++made; });
  CHECK(made == 2);
  CHECK(values.combine(std::plus<>()) == 200);
}

TEST_CASE("with_local returns what the function returns, and gives the value back when it throws") {
  fj::combinable<int> values([] { return 5; });
  CHECK(values.with_local([](int& mine) { return ++mine; }) == 6);
  CHECK_THROWS_AS(values.with_local([](int&) { throw std::runtime_error("not today"); }), std::runtime_error);
  CHECK(values.with_local([](int& mine) { return ++mine; }) == 7);
  CHECK(values.combine(std::plus<>()) == 7);
}
