// Merging: large sequences of any proportion, stability, options, calls outside of a runtime.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "forkjoin/merge.hpp"
#include "test/support.hpp"

namespace {

struct item {
  unsigned key, number;
  bool operator==(const item&) const = default;
};

std::vector<item> items(unsigned n, unsigned from, unsigned keys) {
  test::dice random(from);
  std::vector<item> all(n);
  for (item& one : all) one.key = random.below(keys);
  std::sort(all.begin(), all.end(), [](const item& a, const item& b) { return a.key < b.key; });
  for (item& one : all) one.number = from++;
  return all;
}

std::vector<item> merged_by_std(const std::vector<item>& a, const std::vector<item>& b) {
  std::vector<item> merged(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), merged.begin(),
             [](const item& x, const item& y) { return x.key < y.key; });
  return merged;
}

}  // namespace

TEST_CASE("merges sequences of any proportion, and keeps the order of equal elements") {
  const unsigned n = test::divided(20000u) + 10;
  test::for_each_runtime("merge", [&](fj::runtime& rt, unsigned, test::stealing) {
    for (const unsigned na : {0u, 1u, n / 50, n}) {
      for (const unsigned nb : {0u, 2u, n / 3, n}) {
        for (const unsigned keys : {1u, 20u, 1000000u}) {
          const auto a = items(na, 0, keys), b = items(nb, na, keys);
          std::vector<item> merged(na + nb);
          const auto end = rt.run([&] {
            return fj::parallel_merge(a, b, merged.begin(), std::ranges::less(), &item::key, &item::key,
                                      {.grain = 200});
          });
          CHECK(end == merged.end());
          CHECK(merged == merged_by_std(a, b));
        }
      }
    }
  });
}

TEST_CASE("merges outside of a runtime, with defaults") {
  const test::watchdog dog("outside", 0);
  std::vector<int> a(50000), b(70000), merged(a.size() + b.size()), expected(merged.size());
  test::dice random(1);
  for (int& one : a) one = static_cast<int>(random.below(100000));
  for (int& one : b) one = static_cast<int>(random.below(100000));
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  fj::parallel_merge(a, b, merged.begin());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
  CHECK(merged == expected);
}

TEST_CASE("a merge that is asked to stop throws fj::cancelled, unless everything had started") {
  std::vector<int> a, b, merged(2000);
  for (int i = 0; i != 1000; ++i) {
    a.push_back(2 * i);
    b.push_back(2 * i + 1);
  }
  test::for_each_runtime("stop", [&](fj::runtime& rt, unsigned, test::stealing) {
    for (const std::size_t after : {0, 10, 500, 1 << 30}) {
      fj::stop_source source;
      const fj::stop_token token = source.get_token();
      std::atomic<std::size_t> comparisons = 0;
      const auto less = [&](int x, int y) {
        if (comparisons.fetch_add(1, std::memory_order_relaxed) >= after) source.request_stop();
        return x < y;
      };
      if (after == 0) source.request_stop();
      const auto merge = [&] {
        rt.run([&] { fj::parallel_merge(a, b, merged.begin(), less, {}, {}, {.grain = 10, .stop = &token}); });
      };
      if (after < 1000) {
        CHECK_THROWS_AS(merge(), fj::cancelled);
      } else {
        merge();
        CHECK(std::is_sorted(merged.begin(), merged.end()));
      }
    }
  });
}
