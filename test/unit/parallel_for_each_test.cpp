// Loops over any sequence, and loops whose bodies add elements.
#include "forkjoin/parallel_for_each.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <forward_list>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "forkjoin/run.hpp"
#include "test/support.hpp"

TEST_CASE("parallel_for_each: sequences of all kinds") {
  test::for_each_runtime("sequences of all kinds", [](fj::runtime& rt, unsigned, auto) {
    rt.run([] {
      std::vector<int> numbers(1000, 1);
      fj::parallel_for_each(numbers, [](int& n) { ++n; });
      for (const int n : numbers) CHECK(n == 2);

      std::forward_list<int> list(100, 3);
      fj::parallel_for_each(list.begin(), list.end(), [](int& n) { n *= 2; });
      for (const int n : list) CHECK(n == 6);

      std::istringstream text("1 2 3 4 5 6 7 8 9 10");
      std::atomic<int> sum = 0;
      fj::parallel_for_each(std::istream_iterator<int>(text), std::istream_iterator<int>(), [&](int n) { sum += n; });
      CHECK(sum == 55);
    });
  });
}

// Tried without the scope's join after an exception: ASan finds bodies that use what is gone.
TEST_CASE("parallel_for_each: a body that adds elements") {
  test::for_each_runtime("a body that adds elements", [](fj::runtime& rt, unsigned, auto) {
    rt.run([] {
      std::vector<std::atomic<bool>> seen(5000);
      std::atomic<int> visits = 0;
      const auto visit = [&](std::size_t n, fj::feeder<std::size_t>& more) {
        if (n >= seen.size() || seen[n].exchange(true)) return;
        ++visits;
        for (const std::size_t factor : {2u, 3u, 5u}) more.add(n * factor);
      };
      fj::parallel_for_each(std::vector<std::size_t>{1, 7}, visit);
      int expected = 0;
      for (std::size_t n = 1; n != seen.size(); ++n) {
        std::size_t rest = n % 7 == 0 ? n / 7 : n;
        for (const std::size_t factor : {2u, 3u, 5u})
          while (rest % factor == 0) rest /= factor;
        CHECK(seen[n] == (rest == 1));
        expected += rest == 1;
      }
      CHECK(visits == expected);

      // A chain takes the memory of one element.
      std::atomic<int> length = 0;
      fj::parallel_for_each(std::vector<int>{test::divided(100'000)}, [&](int left, fj::feeder<int>& more) {
        ++length;
        if (left > 1) more.add(left - 1);
      });
      CHECK(length == test::divided(100'000));
      CHECK(fj::this_runtime().stats().stacks_peak < 300);

      // Elements that are moved alone.
      std::vector<std::unique_ptr<int>> owned;
      owned.push_back(std::make_unique<int>(3));
      std::atomic<int> ends = 0;
      fj::parallel_for_each(std::make_move_iterator(owned.begin()), std::make_move_iterator(owned.end()),
                            [&](std::unique_ptr<int> n, fj::feeder<std::unique_ptr<int>>& more) {
                              ++ends;
                              for (int i = 0; i != *n; ++i) more.add(std::make_unique<int>(*n - 1));
                            });
      CHECK(ends == 1 + 3 + 6 + 6);
    });
  });
}

TEST_CASE("parallel_for_each: truth values, which a vector keeps as bits") {
  const std::list<bool> first{true, false, true};
  std::atomic<int> bodies{0};
  fj::parallel_for_each(first, [&](bool adds, fj::feeder<bool>& more) {
    ++bodies;
    if (!adds) return;
    more.add(false);
    more.add(false);
  });
  CHECK(bodies == 3 + 2 * 2);
}

TEST_CASE("parallel_for_each: exceptions and stops") {
  test::for_each_procs([](unsigned procs) {
    fj::runtime rt(test::with_procs(procs));
    rt.run([] {
      const auto fails = [](int n, fj::feeder<int>& more) {
        if (n == 0) throw std::runtime_error("zero");
        more.add(n - 1);
        more.add(n / 2);
      };
      CHECK_THROWS_WITH(fj::parallel_for_each(std::vector<int>{3, 2, 1}, fails), "zero");
      fj::stop_source stop;
      const fj::stop_token token = stop.get_token();
      std::atomic<int> calls = 0;
      CHECK_THROWS_AS(fj::parallel_for_each(std::vector<int>{1},
                                            [&](int n, fj::feeder<int>& more) {
                                              if (++calls == 100) stop.request_stop();
                                              more.add(n + 1);
                                            },
                                            {.stop = &token}),
                      fj::cancelled);
      CHECK(calls >= 100);
      std::forward_list<int> list(10, 0);
      CHECK_THROWS_WITH(fj::parallel_for_each(list, [](int) { throw std::runtime_error("each"); }), "each");
      fj::parallel_for_each(std::vector<int>(), [](int, fj::feeder<int>&) { FAIL("none"); });
    });
  });
}

// Elements at random access are halved.
TEST_CASE("parallel_for_each: many elements that add some, each once") {
  test::for_each_runtime("each added element once", [](fj::runtime& rt, unsigned procs, test::stealing how) {
    CAPTURE(procs);
    CAPTURE(test::name_of(how));
    for (const std::size_t roots : {std::size_t{1}, std::size_t{2}, std::size_t{3}, test::divided(std::size_t{1000})}) {
      std::vector<std::size_t> begin(roots);
      std::iota(begin.begin(), begin.end(), 0);
      std::vector<std::atomic<int>> visits(3 * roots);
      rt.run([&] {
        fj::parallel_for_each(begin, [&](std::size_t n, fj::feeder<std::size_t>& more) {
          ++visits[n];
          if (n < roots)
            for (std::size_t i = 1; i != 3; ++i) more.add(n + i * roots);
        });
      });
      CHECK(std::ranges::all_of(visits, [](const auto& n) { return n == 1; }));
    }
  });
}

TEST_CASE("parallel_for_each: of elements that add none, the earliest exception; a stopped loop starts none") {
  test::for_each_runtime("earliest of a feeder", [](fj::runtime& rt, unsigned procs, test::stealing how) {
    CAPTURE(procs);
    CAPTURE(test::name_of(how));
    std::vector<int> numbers(200);
    std::iota(numbers.begin(), numbers.end(), 0);
    int thrown = 0;
    try {
      rt.run([&] {
        fj::parallel_for_each(numbers, [](int n, fj::feeder<int>&) {
          if (n >= 77) throw n;
        });
      });
    } catch (int n) {
      thrown = n;
    }
    CHECK(thrown == 77);
    fj::stop_source source;
    source.request_stop();
    const fj::stop_token token = source.get_token();
    const auto never = [](int, fj::feeder<int>&) { FAIL("called"); };
    CHECK_THROWS_AS(rt.run([&] { fj::parallel_for_each(numbers, never, {.stop = &token}); }), fj::cancelled);
  });
}

// An element that the loop begins with is no child of the scope that has the others. Tried without failed_: does not
// end.
TEST_CASE("parallel_for_each: after an exception no more elements start, neither the first ones nor added ones") {
  const test::watchdog dog("elements after an exception", 2);
  fj::runtime rt(test::with_procs(2));
  const auto wait_for = [](const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::yield();
  };
  for (const int thrower : {0, 1}) {
    std::atomic<bool> other_begun = false;
    CHECK_THROWS_WITH(rt.run([&] {
      fj::parallel_for_each(std::vector<int>{0, 1}, [&](int n, fj::feeder<int>& more) {
        if (n == thrower) {
          wait_for(other_begun);
          throw std::runtime_error("first");
        }
        other_begun = true;
        more.add(2);
        more.add(2);
      });
    }),
                      "first");
  }
  std::atomic<bool> other_begun = false;
  CHECK_THROWS_WITH(rt.run([&] {
    fj::parallel_for_each(std::vector<int>{0, 1}, [&](int n, fj::feeder<int>& more) {
      if (n == 3) {
        wait_for(other_begun);
        throw std::runtime_error("added");
      }
      if (n == 0) return more.add(3);
      other_begun = true;
      more.add(2);
    });
  }),
                    "added");
}

// Tried with first elements that start although the scope is stopped: all do.
TEST_CASE("parallel_for_each: after a stop no first element starts") {
  fj::runtime rt(test::with_procs(1));
  std::vector<int> numbers(500);
  fj::stop_source source;
  const fj::stop_token token = source.get_token();
  int begun = 0;
  const auto stop_at_fourth = [&](int, fj::feeder<int>&) {
    if (++begun == 4) source.request_stop();
  };
  CHECK_THROWS_AS(rt.run([&] { fj::parallel_for_each(numbers, stop_at_fourth, {.stop = &token}); }), fj::cancelled);
  CHECK(begun == 4);
}

// Also where the difference of iterators is no integer that a loop takes. Tried with a loop over that difference: does
// not compile.
TEST_CASE("parallel_for_each: a view whose differences are of 128 bits") {
  std::atomic<long long> sum = 0;
  fj::parallel_for_each(std::views::iota(0LL, 10LL), [&](long long n, fj::feeder<long long>& more) {
    sum += n;
    if (n == 9) more.add(100);
  });
  CHECK(sum == 145);
}

TEST_CASE("this_runtime: a handle") {
  fj::runtime rt(test::with_procs(3));
  const fj::runtime_ref handle = rt.run([] { return fj::this_runtime(); });
  CHECK(handle == fj::runtime_ref(rt));
  CHECK(handle.procs() == 3);
  CHECK(handle.run([] { return fj::procs(); }) == 3);
  CHECK(handle.stats().procs.size() == 3);
  CHECK(fj::this_runtime() != handle);
}

// Tried with loops that fork on: they did not end.
TEST_CASE("parallel_for_each: a sequence without an end ends with a stop or an exception") {
  for (const unsigned p : {1u, 2u, 8u}) {
    const test::watchdog dog("parallel_for_each: without an end", p);
    fj::runtime rt(test::with_procs(p));
    fj::stop_source source;
    const fj::stop_token token = source.get_token();
    const auto counts = [] { return std::views::iota(0L) | std::views::filter([](long) { return true; }); };
    auto numbers = counts();
    CHECK_THROWS_AS(rt.run([&] {
      fj::parallel_for_each(numbers,
                            [&](long i) {
                              if (i == 100) source.request_stop();
                            },
                            {.stop = &token});
    }),
                    fj::cancelled);
    CHECK_THROWS_AS(rt.run([&] {
      fj::parallel_for_each(numbers, [&](long i, fj::feeder<long>&) {
        if (i == 100) throw std::runtime_error("enough");
      });
    }),
                    std::runtime_error);
    // What is left of an input is not read.
    std::istringstream in("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20");
    fj::stop_source at_once;
    const fj::stop_token stops = at_once.get_token();
    auto words = std::views::istream<int>(in);
    CHECK_THROWS_AS(
        rt.run([&] { fj::parallel_for_each(words, [&](int) { at_once.request_stop(); }, {.stop = &stops}); }),
        fj::cancelled);
    if (p == 1) CHECK(in.tellg() < 10);
  }
}

TEST_CASE("parallel_for_each: an input that can only be moved, with a feeder") {
  std::istringstream in("1 2 3");
  auto words = std::views::istream<int>(in);
  std::atomic<int> sum{0};
  fj::parallel_for_each(words, [&](int each, fj::feeder<int>& more) {
    sum += each;
    if (each == 3) more.add(4);
  });
  CHECK(sum == 10);
}
