// Sorting: patterns, the worst case, options, policies, and calls outside of a runtime.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

#include "forkjoin/sort.hpp"
#include "forkjoin/stable_sort.hpp"
#include "test/support.hpp"

namespace {

using values = std::vector<std::uint64_t>;

struct pattern {
  std::string name;
  values input;
};

std::vector<pattern> patterns(std::size_t n) {
  test::dice random(1);
  std::vector<pattern> all(8);
  for (std::size_t i = 0; i != n; ++i) {
    all[0].input.push_back(random.next());
    all[1].input.push_back(i);
    all[2].input.push_back(n - i);
    all[3].input.push_back(random.below(4));
    all[4].input.push_back(7);
    all[5].input.push_back(std::min(i, n - i));              // up and down
    all[6].input.push_back(i < n - 20 ? i : random.next());  // unsorted elements at the end
    all[7].input.push_back(i / 2 * 2 + (i + 1) % 2);         // every pair is swapped
  }
  static const char* const names[] = {"random",    "sorted", "reversed",   "few distinct",
                                      "all equal", "organ",  "new at end", "swapped pairs"};
  for (std::size_t i = 0; i != all.size(); ++i) all[i].name = names[i];
  return all;
}

struct sorter {
  template <class... Args>
  static void sort(Args&&... args) {
    fj::parallel_sort(std::forward<Args>(args)...);
  }
};
struct stable_sorter {
  template <class... Args>
  static void sort(Args&&... args) {
    fj::parallel_stable_sort(std::forward<Args>(args)...);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("sorts take everything that std::ranges::sort takes", How, sorter, stable_sorter) {
  struct move_only {
    int key;
    explicit move_only(int k) : key(k) {}
    move_only(move_only&&) = default;
    move_only& operator=(move_only&&) = default;
    auto operator<=>(const move_only&) const = default;
  };
  static_assert(std::is_trivially_copyable_v<move_only> && !std::is_copy_constructible_v<move_only>);
  struct item {
    int key;
  };
  std::vector<move_only> movables;
  std::vector<int> ints;
  std::vector<item> items;
  test::dice random(1);
  for (int i = 0; i != 1000; ++i) {
    movables.emplace_back(static_cast<int>(random.below(500)));
    ints.push_back(movables.back().key);
    items.push_back({ints.back()});
  }
  How::sort(movables);
  CHECK(std::ranges::is_sorted(movables));
  How::sort(ints, [](int& a, int& b) { return a < b; });
  CHECK(std::ranges::is_sorted(ints));
  How::sort(items, std::greater<>(), [](item& one) -> int& { return one.key; });
  CHECK(std::ranges::is_sorted(items, std::greater<>(), &item::key));
  if constexpr (std::same_as<How, sorter>) {  // std::ranges::stable_sort asks for constants
    struct counted {
      int key;
      int read() { return key; }
    };
    std::vector<counted> all;
    for (const int i : {3, 1, 2}) all.push_back({i});
    How::sort(all, [](auto& a, auto& b) { return a.read() < b.read(); });
    CHECK((all[0].key == 1 && all[2].key == 3));
    How::sort(all, std::greater<>(), [](auto& one) { return one.read(); });
    CHECK((all[0].key == 3 && all[2].key == 1));
  }
}

static_assert(fj::detail::moves_nothrow<std::vector<std::string>::reverse_iterator>);
// libc++ does not declare a deque's iterators noexcept.
static_assert(fj::detail::moves_nothrow<std::deque<std::string>::iterator> ||
              !noexcept(*std::declval<std::deque<std::string>::iterator&>()));

// If the stable sort does not check whether dereferencing may throw, it ended the program.
TEST_CASE_TEMPLATE("iterators may throw", How, sorter, stable_sorter) {
  bool thrown = true;
  for (long limit = 1; thrown; limit *= 2) {
    std::vector<int> keys(300);
    test::dice random(1);
    for (int& key : keys) key = static_cast<int>(random.below(100));
    std::atomic<long> reads = 0;
    const auto element = [&](int i) -> int& {
      if (++reads > limit) throw limit;
      return keys[static_cast<std::size_t>(i)];
    };
    auto all = std::views::iota(0, 300) | std::views::transform(element);
    try {
      How::sort(all.begin(), all.end(), std::less<>(), std::identity(), fj::loop_options{.grain = 30});
      thrown = false;
    } catch (long) {}
    if (!thrown) CHECK(std::ranges::is_sorted(keys));
  }
}

TEST_CASE_TEMPLATE("patterns are sorted", How, sorter, stable_sorter) {
  const auto all = patterns(test::divided(30000u) + 100);
  test::for_each_runtime("patterns are sorted", [&](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const pattern& one : all) {
      CAPTURE(one.name);
      values expected = one.input;
      std::sort(expected.begin(), expected.end());
      values sorted = one.input;
      rt.run([&] { How::sort(sorted, std::ranges::less(), std::identity(), fj::loop_options{.grain = 300}); });
      CHECK(sorted == expected);
    }
  });
}

TEST_CASE_TEMPLATE("sorts work outside of a runtime, with defaults", How, sorter, stable_sorter) {
  const test::watchdog dog("outside", 0);
  for (const pattern& one : patterns(100000)) {
    values sorted = one.input, expected = one.input;
    How::sort(sorted);
    std::sort(expected.begin(), expected.end());
    CHECK(sorted == expected);
  }
}

// An adversary that chooses the order during the comparisons, so that pivots are as bad as possible: McIlroy, "A killer
// adversary for quicksort", 1999. Without the switch to heapsort there are 13 times as many comparisons.
TEST_CASE("the worst case is n log n, too") {
  const int n = 1 << 14;
  const int gas = n;
  std::vector<int> value(n, gas), items(n);
  std::iota(items.begin(), items.end(), 0);
  value[0] = 1, value[1] = 0, value[2] = 2;  // neither ascending nor descending, or the sort would end at once
  int solid = 3, candidate = 0;
  long comparisons = 0;
  const auto less = [&](int a, int b) {
    ++comparisons;
    if (value[a] == gas && value[b] == gas) value[a == candidate ? a : b] = solid++;
    if (value[a] == gas) {
      candidate = a;
    } else if (value[b] == gas) {
      candidate = b;
    }
    return value[a] < value[b];
  };
  fj::runtime rt(test::with_procs(1));
  rt.run([&] { fj::parallel_sort(items, less); });
  CHECK(std::is_sorted(items.begin(), items.end(), [&](int a, int b) { return value[a] < value[b]; }));
  const double bound = 5 * n * std::log2(n);
  CHECK(comparisons < bound);
}

// The sort recognises patterns before it moves anything. Without that, each of these takes n log n comparisons.
TEST_CASE_TEMPLATE("sorted, reversed and equal elements take linear time", How, sorter, stable_sorter) {
  const std::size_t n = 1 << 16;
  test::for_each_procs([&](unsigned p) {
    fj::runtime rt(test::with_procs(p));
    for (const pattern& one : patterns(n)) {
      if (one.name != "sorted" && one.name != "reversed" && one.name != "all equal") continue;
      values sorted = one.input;
      std::atomic<std::size_t> comparisons = 0;
      const auto less = [&](std::uint64_t a, std::uint64_t b) {
        comparisons.fetch_add(1, std::memory_order_relaxed);
        return a < b;
      };
      rt.run([&] { How::sort(sorted, less); });
      CHECK(std::is_sorted(sorted.begin(), sorted.end()));
      CHECK(comparisons < n + n / 4);
    }
  });
}

// Without the special treatment of elements equal to the pivot: quadratic, or n log n at best.
TEST_CASE("few distinct elements take few comparisons") {
  const std::size_t n = 1 << 16;
  test::dice random(1);
  std::vector<unsigned> keys(n);
  for (unsigned& key : keys) key = random.below(4);
  std::size_t comparisons = 0;
  fj::runtime rt(test::with_procs(1));
  rt.run([&] {
    fj::parallel_sort(keys, [&](unsigned a, unsigned b) {
      ++comparisons;
      return a < b;
    });
  });
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(comparisons < 8 * n);
}

TEST_CASE_TEMPLATE("a sort that is asked to stop leaves a permutation", How, sorter, stable_sorter) {
  const values input = patterns(test::divided(20000u) + 1000).front().input;
  values expected = input;
  std::sort(expected.begin(), expected.end());
  test::for_each_runtime("asked to stop", [&](fj::runtime& rt, unsigned, test::stealing) {
    for (const std::size_t after : {0, 1, 100, 5000, 1 << 30}) {
      fj::stop_source source;
      const fj::stop_token token = source.get_token();
      std::atomic<std::size_t> comparisons = 0;
      const auto less = [&](std::uint64_t a, std::uint64_t b) {
        if (comparisons.fetch_add(1, std::memory_order_relaxed) >= after) source.request_stop();
        return a < b;
      };
      values sorted = input;
      if (after == 0) source.request_stop();
      const fj::loop_options options{.grain = 50, .stop = &token};
      const auto sort = [&] { rt.run([&] { How::sort(sorted, less, std::identity(), options); }); };
      if (after < 10000) {
        CHECK_THROWS_AS(sort(), fj::cancelled);
        if (after == 0) CHECK(sorted == input);  // nothing has started
        std::sort(sorted.begin(), sorted.end());
      } else {
        CHECK_NOTHROW(sort());
      }
      CHECK(sorted == expected);
    }
  });
}

TEST_CASE("equal elements stay in order") {
  struct item {
    unsigned key, number;
  };
  const unsigned n = test::divided(30000u) + 100;
  test::for_each_runtime("equal elements stay in order", [&](fj::runtime& rt, unsigned, test::stealing) {
    test::dice random(1);
    std::vector<item> items(n);
    for (unsigned i = 0; i != n; ++i) items[i] = {random.below(50), i};
    rt.run([&] { fj::parallel_stable_sort(items, std::ranges::greater(), &item::key, {.grain = 500}); });
    CHECK(std::is_sorted(items.begin(), items.end(), [](const item& a, const item& b) {
      return a.key > b.key || (a.key == b.key && a.number < b.number);
    }));
  });
}
