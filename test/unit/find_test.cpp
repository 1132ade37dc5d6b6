// Searches: the first match at any place, an early end, options, calls outside of a runtime.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/find.hpp"
#include "test/support.hpp"

TEST_CASE("find returns the first of several matches, at any place") {
  const std::size_t n = test::divided(20000u) + 100;
  test::for_each_runtime("find", [&](fj::runtime& rt, unsigned, test::stealing) {
    for (const std::size_t first : {std::size_t(0), n / 3, n / 2, n - 2, n}) {
      std::vector<int> values(n);
      for (std::size_t i = first; i < n; i += 7) values[i] = 1;
      const fj::loop_options options{.grain = 50};
      const auto where = rt.run([&] { return fj::parallel_find(values, 1, {}, options); });
      CHECK(where == std::find(values.begin(), values.end(), 1));
      const auto is_one = [](int value) { return value == 1; };
      CHECK(rt.run([&] { return fj::parallel_any_of(values, is_one, {}, options); }) == (first != n));
      CHECK(rt.run([&] { return fj::parallel_none_of(values, is_one, {}, options); }) == (first == n));
      CHECK(rt.run([&] { return fj::parallel_all_of(values, is_one, {}, options); }) == false);
    }
  });
}

TEST_CASE("searches outside of a runtime") {
  const test::watchdog dog("outside", 0);
  std::vector<std::string> names(50000, "others");
  names[31234] = "wanted";
  names[41234] = "wanted";
  CHECK(fj::parallel_find(names, "wanted") - names.begin() == 31234);
  CHECK(fj::parallel_find_if(names.rbegin(), names.rend(), [](auto& name) { return name != "others"; }) -
            names.rbegin() ==
        50000 - 41234 - 1);
  CHECK(fj::parallel_all_of(names, [](std::size_t size) { return size > 5; }, &std::string::size));
  const std::vector<int> none;
  CHECK(fj::parallel_all_of(none, [](int) { return false; }));
  CHECK(fj::parallel_find(none, 1) == none.end());
}

// With one P the search tests no element after the block with the match; with more P only blocks that had started.
// Those blocks wait for the match, because the thread that is about to find it may lose its processor. Without the
// early end every element is tested.
TEST_CASE("find stops early") {
  const std::size_t n = 1 << 20;
  std::vector<unsigned> values(n);
  std::iota(values.begin(), values.end(), 0u);
  test::for_each_runtime("stops early", [&](fj::runtime& rt, unsigned p, test::stealing) {
    std::atomic<std::size_t> tests = 0;
    std::atomic<bool> found = false;
    const auto matches = [&](unsigned value) {
      tests.fetch_add(1, std::memory_order_relaxed);
      if (value == 100) found.store(true, std::memory_order_relaxed);
      while (value > 100 && !found.load(std::memory_order_relaxed)) std::this_thread::yield();
      return value == 100;
    };
    CHECK(rt.run([&] { return fj::parallel_find_if(values, matches); }) == values.begin() + 100);
    if (p == 1) CHECK(tests <= 101);
    CHECK(tests < n / 2);
  });
}

// With a check in the leaves alone this took hours: a fork for each thousand elements.
TEST_CASE("find does not split ranges to the right of a match") {
  test::for_each_runtime("not divided", [](fj::runtime& rt, unsigned, test::stealing) {
    const auto all = std::views::iota(std::int64_t(0), std::int64_t(1) << 50);
    std::atomic<bool> found = false;
    const auto matches = [&](std::int64_t value) {
      if (value == 0) return found = true;
      test::spin_until([&] { return found.load(); });
      return false;
    };
    CHECK(rt.run([&] { return fj::parallel_find_if(all, matches); }) == all.begin());
  });
}

// The match is at the end, and the strand with the first block waits until another strand has found it. If the
// predicate may throw, all elements left of the match are tested. Tried without the question whether the predicate is
// noexcept: all are tested here, too.
TEST_CASE("predicates that do not throw let any match end the search") {
  const std::size_t n = 1 << 20;
  std::vector<unsigned> values(n);
  std::iota(values.begin(), values.end(), 0u);
  test::for_each_runtime(
      "any match",
      [&](fj::runtime& rt, unsigned p, test::stealing) {
        std::atomic<bool> found = false;
        std::atomic<std::size_t> tests = 0;
        const auto matches = [&](unsigned value) noexcept {
          tests.fetch_add(1, std::memory_order_relaxed);
          if (value == 0) test::spin_until([&] { return found.load(); });
          if (value != n - 1) return false;
          found = true;
          return true;
        };
        CHECK(rt.run([&] { return fj::parallel_any_of(values, matches); }));
        if (p == 2) CHECK(tests < n / 2 + n / 4);  // the thief took the right half, and no worker took the left one
      },
      2);
}

TEST_CASE("a search that is asked to stop says so, unless the result is certain") {
  std::vector<int> values(100000);
  values[99] = 1;
  values[99999] = 2;
  test::for_each_runtime("stop", [&](fj::runtime& rt, unsigned, test::stealing) {
    fj::stop_source source;
    const fj::stop_token token = source.get_token();
    const fj::loop_options options{.grain = 100, .stop = &token};
    const auto search = [&](int wanted) {
      return rt.run([&] {
        return fj::parallel_find_if(
            values,
            [&](int value) {
              source.request_stop();
              return value == wanted;
            },
            {}, options);
      });
    };
    // The first block has started, so what it finds is certain. The last block may have started when the first was
    // done, or not.
    const auto first_or_cancelled = [&](int wanted) {
      try {
        return search(wanted) - values.begin();
      } catch (const fj::cancelled&) {
        return std::ptrdiff_t(-1);
      }
    };
    const auto first = first_or_cancelled(1);
    CHECK((first == 99 || first == -1));
    CHECK(first_or_cancelled(2) == -1);  // asked to stop before it began
  });
}

// The thief has begun with the right half when the left one throws, and goes on when the owner waits for it. If an
// exception does not end the search (tried), the thief tests all of its half.
TEST_CASE("an exception ends the search to the right of it") {
  const test::watchdog dog("exception of a search", 2);
  fj::runtime rt(test::with_procs(2));
  const std::size_t n = 1 << 14;
  std::vector<unsigned> values(n);
  std::iota(values.begin(), values.end(), 0u);
  std::atomic<std::size_t> tests = 0;
  std::atomic<bool> begun = false;
  const auto matches = [&](unsigned value) {
    ++tests;
    if (value == 100) {
      test::spin_until([&] { return begun.load(); });
      throw 1;
    }
    if (value == n / 2) {
      begun = true;
      test::spin_until([&] { return rt.stats().total().suspensions > 0; });
    }
    return false;
  };
  CHECK_THROWS_AS(rt.run([&] { return fj::parallel_find_if(values, matches, {}, {.grain = 64}) == values.end(); }),
                  int);
  CHECK(tests == 101 + 64);
}

// Tried without the look at what has been found, in find_any: about one search in twenty is cancelled.
TEST_CASE("a match before a stop decides, if predicates do not throw") {
  const std::vector<int> values(1000);
  fj::runtime rt(test::with_procs(2));
  for (int round = 0; round != 200; ++round) {
    fj::stop_source source;
    const fj::stop_token token = source.get_token();
    std::atomic<bool> has_matched = false;
    std::atomic<bool> waits = true;
    const auto pred = [&](const int& value) noexcept {
      if (&value - values.data() >= 500) return has_matched = true, true;
      if (&value == values.data() && waits.exchange(false)) {
        for (int i = 0; i != 1000 && !has_matched; ++i) std::this_thread::yield();
        if (has_matched) source.request_stop();
      }
      return false;
    };
    CHECK(rt.run([&] { return fj::parallel_any_of(values, pred, {}, {.grain = 100, .stop = &token}); }));
  }
}
