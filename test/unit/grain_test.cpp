// A grain can be any number: 1, more than the number of elements, the largest number of its type.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "test/support.hpp"

namespace {

constexpr std::size_t grains[] = {1, 63, 64, 65, SIZE_MAX / 64, SIZE_MAX / 2, SIZE_MAX - 63, SIZE_MAX - 1, SIZE_MAX};

bool is_even(int x) { return x % 2 == 0; }

void expect_all_right(const std::vector<int>& keys, const fj::loop_options& options) {
  const std::size_t n = keys.size();
  std::vector<int> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  const int sum = std::accumulate(keys.begin(), keys.end(), 0);
  const auto even = std::count_if(keys.begin(), keys.end(), is_even);

  std::atomic<int> seen = 0;
  const auto add = [&](int x) { seen += x; };
  fj::parallel_for(keys, add, options);
  fj::fork_each(keys, add, options);
  fj::parallel_for_2d(n, 1, [&](std::size_t i, std::size_t) { add(keys[i]); }, options);
  fj::parallel_for_2d(
      1, n,
      [&](const fj::block_2d& block) {
        for (std::size_t i = block.col_begin; i != block.col_end; ++i) add(keys[i]);
      },
      options);
  CHECK(seen == 4 * sum);

  CHECK(fj::parallel_reduce(keys, 0, std::plus<>(), options) == sum);
  std::vector<int> out(2 * n), expected(n);
  std::partial_sum(keys.begin(), keys.end(), expected.begin());
  CHECK(fj::parallel_scan(keys, out.begin(), std::plus<>(), options) == out.end() - static_cast<long>(n));
  CHECK(std::equal(expected.begin(), expected.end(), out.begin()));
  fj::parallel_transform(keys, out.begin(), std::negate<>(), options);
  CHECK(std::accumulate(out.begin(), out.begin() + static_cast<long>(n), 0) == -sum);

  CHECK(fj::parallel_find(keys, -1, {}, options) == keys.end());
  CHECK(fj::parallel_any_of(keys, is_even, {}, options) == (even != 0));
  CHECK(fj::parallel_copy_if(keys, out.begin(), is_even, {}, options) - out.begin() == even);
  CHECK(std::is_partitioned(out.begin(), out.begin() + even, is_even));

  std::vector<int> own = keys;
  CHECK(fj::parallel_partition(own, is_even, {}, options) - own.begin() == even);
  fj::parallel_sort(own, {}, {}, options);
  CHECK(own == sorted);
  own = keys;
  fj::parallel_stable_sort(own, {}, {}, options);
  CHECK(own == sorted);
  std::reverse(own.begin(), own.end());
  fj::parallel_sort(own, {}, {}, options);
  CHECK(own == sorted);
  CHECK(fj::parallel_merge(own, own, out.begin(), {}, {}, {}, options) == out.end());
  CHECK(std::is_sorted(out.begin(), out.end()));
}

}  // namespace

TEST_CASE("loops take any grain") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("any grain", p);
    fj::runtime rt(test::with_procs(p));
    for (const std::size_t grain : grains) {
      CAPTURE(grain);
      for (const std::size_t n : {0u, 1u, 2u, 63u, 64u, 1000u, 5000u}) {
        CAPTURE(n);
        std::vector<int> keys(n);
        test::dice random(n);
        for (int& key : keys) key = static_cast<int>(random.below(1000));
        rt.run([&] { expect_all_right(keys, {.grain = grain}); });
      }
    }
  });
}
