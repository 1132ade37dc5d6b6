// Worker-local accumulators: nothing is added twice or lost, and no two strands share a value, also across migrations.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
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
TEST_CASE("strands that fork and migrate while they hold a value do not share it") {
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
      CHECK(made >= depth + 1);  // one strand holds so many at once
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

TEST_CASE("combinable: a function that takes the sum by value copies the first value alone") {
  // Tried with a sum that is passed as const: six copies.
  struct summand {
    summand(int& of, int n) : copies(&of), count(n) {}
    summand(const summand& other) : copies(other.copies), count(other.count) { ++*copies; }
    summand(summand&&) = default;
    summand& operator=(summand&&) = default;
    int* copies;
    int count;
  };
  int copies = 0;
  fj::combinable<summand> values([&] { return summand(copies, 1); });
  {
    std::vector<fj::combinable<summand>::handle> held;
    for (int i = 0; i < 7; ++i) held.push_back(values.local());
  }
  const summand all = values.combine([](summand sum, const summand& next) {
    sum.count += next.count;
    return sum;
  });
  CHECK(all.count == 7);
  CHECK(copies == 1);
}

// If clear leaves the values of the slots, or the spare ones (each tried), they are handed out again.
TEST_CASE("after clear values begin anew, and a missing value is made") {
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

// If values that find no free slot are dropped (tried), there is a new one each time.
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

namespace {

int made(const fj::combinable<int>& values) {
  int all = 0;
  values.for_each([&](int) { ++all; });
  return all;
}

void hold_two(fj::combinable<int>& values, int one, int other) {
  auto first = values.local();
  auto second = values.local();
  *first += one;
  *second += other;
}

}  // namespace

// Tried with copies that are not put among the spare ones: new values are made beside them.
TEST_CASE("a copy has values of its own, and uses them again") {
  fj::combinable<int> values([] { return 5; });
  hold_two(values, 1, 2);
  fj::combinable<int> copy = values;
  CHECK(copy.combine(std::plus<>()) == 13);
  hold_two(copy, 10, 20);
  CHECK(made(copy) == 2);
  CHECK(copy.combine(std::plus<>()) == 43);
  CHECK(values.combine(std::plus<>()) == 13);

  fj::combinable<int> other([] { return 7; });
  hold_two(other, 0, 0);
  hold_two(other, 0, 0);
  other = values;
  CHECK(other.combine(std::plus<>()) == 13);
  other = *&other;
  CHECK(other.combine(std::plus<>()) == 13);
  other.clear();
  CHECK(other.combine(std::plus<>()) == 5);
  CHECK(values.combine(std::plus<>()) == 13);
}

// Tried with slots that stay behind: both objects hand out the moved values.
TEST_CASE("a move takes the values along, and leaves none behind") {
  fj::combinable<int> values([] { return 5; });
  hold_two(values, 1, 2);
  fj::combinable<int> taken = std::move(values);
  CHECK(taken.combine(std::plus<>()) == 13);
  CHECK(made(values) == 0);
  hold_two(values, 100, 200);
  CHECK(values.combine(std::plus<>()) == 310);
  hold_two(taken, 10, 20);
  CHECK(made(taken) == 2);
  CHECK(taken.combine(std::plus<>()) == 43);
  taken = std::move(values);
  CHECK(taken.combine(std::plus<>()) == 310);
  CHECK(made(values) == 0);
  hold_two(values, 0, 0);
  CHECK(made(values) == 2);
  hold_two(taken, 1, 1);
  CHECK(taken.combine(std::plus<>()) == 312);
  static_assert(std::is_nothrow_move_assignable_v<fj::combinable<int>>);
  static_assert(std::is_move_constructible_v<fj::combinable<std::unique_ptr<int>>>);
  static_assert(!std::is_copy_constructible_v<fj::combinable<std::unique_ptr<int>>>);
  static_assert(!std::is_copy_assignable_v<fj::combinable<std::unique_ptr<int>>>);
}

// Tried without the handler in the constructor: the first copy is never destroyed.
TEST_CASE("copies that throw leak nothing and leave the target unchanged") {
  struct copied {
    explicit copied(std::atomic<int>& living, int left) : alive(living), copies_left(left) { ++alive; }
    copied(const copied& other) : alive(other.alive), copies_left(other.copies_left) {
      if (copies_left == 0) throw std::runtime_error("no more copies");
      ++alive;
    }
    ~copied() { --alive; }
    std::atomic<int>& alive;
    int copies_left;
  };
  std::atomic<int> living = 0;
  int next = 0;
  fj::combinable<copied> values([&] { return copied(living, next); });
  {
    auto second = values.local();  // copied last, and throws
    next = 1;
    auto first = values.local();
  }
  fj::combinable<copied> target([&] { return copied(living, 1); });
  target.with_local([](copied&) {});
  CHECK(living == 3);
  CHECK_THROWS_AS(fj::combinable<copied>(std::as_const(values)), std::runtime_error);
  CHECK_THROWS_AS(target = std::as_const(values), std::runtime_error);
  CHECK(living == 3);
}

// Tried with entries aligned to a cache line alone: clang refuses them.
TEST_CASE("values may be aligned to more than a cache line") {
  struct alignas(512) wide {
    int count = 0;
  };
  fj::combinable<wide> values;
  values.with_local([](wide& mine) {
    CHECK(reinterpret_cast<std::uintptr_t>(&mine) % alignof(wide) == 0);
    ++mine.count;
  });
  int sum = 0;
  values.for_each([&](const wide& one) { sum += one.count; });
  CHECK(sum == 1);
}

TEST_CASE("combinable: values are combined by a member function") {
  struct tally {
    int n = 0;
    tally with(const tally& other) const { return {n + other.n}; }
  };
  const test::watchdog dog("member function", 3);
  fj::runtime rt(test::with_procs(3));
  fj::combinable<tally> tallies;
  rt.run([&] {
    fj::parallel_for(0, 1000, [&](int) { tallies.with_local([](tally& mine) { ++mine.n; }); }, {.grain = 1});
    const auto one = tallies.local(), other = tallies.local();  // so there are two values
  });
  CHECK(tallies.combine(&tally::with).n == 1000);
}
