// fork_each: every iteration once, in order, one record and one stack for the loop, exceptions, cancellation.
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <new>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/support.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace

TEST_CASE("fork_each: every iteration once, over indices, iterators and ranges, with any grain") {
  test::for_each_runtime("fork_each", [](fj::runtime& rt, unsigned, test::stealing) {
    for (const std::size_t grain : {0u, 1u, 7u, 1000u}) {
      for (const int n : {0, 1, 2, 100}) {
        std::vector<int> visits(static_cast<std::size_t>(n));
        rt.run([&] {
          fj::fork_each(0, n, [&](int i) { ++visits[static_cast<std::size_t>(i)]; }, {.grain = grain});
          fj::fork_each(visits.begin(), visits.end(), [](int& v) { v += fib(5) == 5; }, {.grain = grain});
          fj::fork_each(visits, [](int& v) { ++v; }, {.grain = grain});
        });
        CHECK(visits == std::vector<int>(static_cast<std::size_t>(n), 3));
      }
    }
  });
  std::deque<int> elements(10, 1);
  fj::fork_each(elements, [](int& e) { ++e; });  // outside of a runtime
  CHECK(elements == std::deque<int>(10, 2));
}

TEST_CASE("fork_each: in order with one P") {
  fj::runtime one(test::with_procs(1));
  std::vector<int> order;
  one.run([&] { fj::fork_each(0, 5, [&](int i) { order.push_back(i); }); });
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("fork_each: the loop takes the memory of one fork") {
  // If each iteration forks the whole rest of the loop, as by recursion, each iteration takes a stack or a frame.
  test::for_each_procs([](unsigned p) {
    if (p > 8) return;
    const test::watchdog dog("fork_each: memory", p);
    fj::runtime rt(test::with_procs(p));
    std::atomic<long> sum{0};
    rt.run([&] { fj::fork_each(0L, test::divided(300'000L), [&](long) { ++sum; }); });
    CHECK(sum == test::divided(300'000L));
    CHECK(rt.stats().stacks_peak <= 40 * (p + 1));
  });
}

TEST_CASE("fork_each names itself in the error about mixed indices") {
  CHECK_THROWS_WITH_AS(fj::fork_each(-1, 5u, [](unsigned) {}),
                       "fj::fork_each: the first index is -1, but the other one is unsigned, so the indices would be; "
                       "make both signed",
                       std::invalid_argument);
}

TEST_CASE("fork_each: the plain loop's exception, and nothing after it on one P") {
  test::for_each_runtime("fork_each: exceptions", [](fj::runtime& rt, unsigned p, test::stealing how) {
    for (const int first : {0, 3, 9}) {
      std::atomic<int> after{0};
      std::string thrown;
      try {
        rt.run([&] {
          fj::fork_each(0, 10, [&](int i) {
            static_cast<void>(fib(4));
            if (i > first) ++after;
            if (i >= first) throw std::runtime_error(std::to_string(i));
          });
        });
      } catch (const std::runtime_error& e) {
        thrown = e.what();
      }
      CHECK(thrown == std::to_string(first));
      if (p == 1 && how == test::stealing::by_need) CHECK(after == 0);
    }
  });
}

// With a check of the token alone (tried) the loop goes on to its end and leaves out each iteration by itself, for
// hours.
TEST_CASE("fork_each: ends when an iteration has thrown whose continuation was stolen") {
  const test::watchdog dog("fork_each: thrown elsewhere", 2);
  fj::runtime rt(test::with_procs(2));
  std::atomic<bool> stolen{false};
  const auto iteration = [&](long i) {
    if (i > 0) stolen = true;
    if (i > 0) return;
    test::spin_until([&] { return stolen.load(); });
    throw std::runtime_error("first");
  };
  CHECK_THROWS_WITH(rt.run([&] { fj::fork_each(0L, 1L << 40, iteration); }), "first");
}

TEST_CASE("fork_each: cancelled if anything was left out") {
  test::for_each_runtime("fork_each: cancellation", [](fj::runtime& rt, unsigned p, test::stealing how) {
    const auto loop = [&](int stop_at) {
      fj::stop_source source;
      const fj::stop_token token = source.get_token();
      std::atomic<int> ran{0};
      bool cancelled = false;
      try {
        rt.run([&] {
          fj::fork_each(0, 100,
                        [&](int i) {
                          ++ran;
                          if (i == stop_at) source.request_stop();
                        },
                        {.stop = &token});
        });
      } catch (const fj::cancelled&) {
        cancelled = true;
      }
      CHECK(cancelled == (ran < 100));
      return ran.load();
    };
    const int ran = loop(10);
    if (p == 1 && how == test::stealing::by_need) CHECK(ran == 11);
    CHECK(loop(99) == 100);
    CHECK(loop(1000) == 100);
  });
}

// If each iteration forks the whole rest of the loop, as by recursion, there is a record for each iteration.
TEST_CASE("fork_each: one record however long the loop is") {
  const test::fences all_public(test::stealing::all_public);
  const test::watchdog dog("fork_each: records", 1);
  fj::runtime rt(test::with_procs(1));
  rt.run([] { fj::fork_each(0, 1000, [](int) {}); });
  CHECK(rt.stats().total().most_public == 1);
}

// Tried without the look at it in fork_iterations and fork_values: the scope is refused.
TEST_CASE("fork_each: outside of a runtime a lone iteration enters one, too") {
  const auto forks = [](int i) {
    fj::scope s;
    s.fork([&] { ++i; });
    s.join();
    return i;
  };
  for (const int n : {1, 2, 3}) {
    std::atomic<int> sum{0};
    fj::fork_each(0, n, [&](int i) { sum += forks(i); });
    fj::fork_each(0, n, [&](int i) { sum += forks(i); }, {.grain = 4});
    CHECK(sum == n * (n + 1));
    CHECK(fj::fork_reduce(0, n, 0, std::plus<>(), forks) == n * (n + 1) / 2);
    CHECK(fj::this_proc() == -1);
  }
}

// Tried with a body's result that outlives the element: with AddressSanitizer, a use of memory that is gone.
TEST_CASE("fork_reduce: what the body returns may refer to an element that is a temporary") {
  struct pair {
    int key;
    long weight;
  };
  const auto words =
      std::views::iota(0, 4) | std::views::transform([](int i) { return std::string(40, static_cast<char>('a' + i)); });
  const auto pairs = std::views::iota(0, 9) | std::views::transform([](int i) { return pair{i, 2L * i}; });
  test::for_each_runtime("fork_reduce: temporaries", [&](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([&] {
      const std::string all = fj::fork_reduce(words, std::string(), std::plus<>(), std::identity());
      CHECK(all == std::string(40, 'a') + std::string(40, 'b') + std::string(40, 'c') + std::string(40, 'd'));
      CHECK(fj::fork_reduce(0, 100, 0L, std::plus<>(), std::identity()) == 4950);
      CHECK(fj::fork_reduce(pairs, 0L, std::plus<>(), &pair::weight) == 72);
    });
  });
}

// Tried with a sum that is moved before the join: thieves went on in a frame that was gone.
TEST_CASE("fork_reduce: a sum whose moves throw") {
  struct sum {
    long value;
    std::atomic<int>* left;
    sum(long of, std::atomic<int>& moves) : value(of), left(&moves) {}
    sum(const sum& other) : value(other.value), left(other.left) {
      if (--*left == 0) throw std::bad_alloc();
    }
    sum& operator=(const sum& other) {
      value = other.value;
      return *this;
    }
  };
  test::for_each_runtime("fork_reduce: moves that throw", [&](fj::runtime& rt, unsigned, test::stealing) {
    int thrown = 0, right = 0;
    for (int k = 1; k != 100; ++k) {
      std::atomic<int> left{k};
      try {
        const long all = rt.run([&] {
          return fj::fork_reduce(
                     0, 20, sum(0, left), [](sum so_far, long each) { return sum(so_far.value + each, *so_far.left); },
                     [](int i) { return long{i}; })
              .value;
        });
        right += all == 190;
      } catch (const std::bad_alloc&) {
        ++thrown;
      }
    }
    CHECK(thrown + right == 99);
    CHECK(thrown > 0);
  });
}
