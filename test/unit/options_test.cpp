// Loops and algorithms take their options last, whatever is left out before them. A token that is asked to stop shows
// that they arrive.
#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "test/support.hpp"

namespace {

template <class Body>
void expect_cancelled(Body body) {
  CHECK_THROWS_AS(body(), fj::cancelled);
}

bool is_odd(int x) { return x % 2 != 0; }

}  // namespace

TEST_CASE("options come last, whatever is left out before them") {
  fj::stop_source source;
  source.request_stop();
  const fj::stop_token token = source.get_token();
  const fj::loop_options named{.grain = 4, .stop = &token};
  std::vector<int> v{3, 1, 2}, out(6);
  const auto first = v.begin(), last = v.end();
  const auto to = out.begin();
  const std::greater<> greater;
  fj::runtime rt(test::with_procs(1));
  rt.run([&] {
    expect_cancelled([&] { fj::parallel_sort(v, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_sort(v, named); });
    expect_cancelled([&] { fj::parallel_sort(v, greater, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_sort(v, greater, named); });
    expect_cancelled([&] { fj::parallel_sort(first, last, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_sort(first, last, named); });
    expect_cancelled([&] { fj::parallel_sort(first, last, greater, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_sort(first, last, greater, named); });
    expect_cancelled([&] { fj::parallel_stable_sort(v, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_stable_sort(v, greater, named); });
    expect_cancelled([&] { fj::parallel_stable_sort(first, last, named); });
    expect_cancelled([&] { fj::parallel_stable_sort(first, last, greater, {.stop = &token}); });

    expect_cancelled([&] { fj::parallel_merge(v, v, to, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_merge(v, v, to, greater, named); });
    expect_cancelled([&] { fj::parallel_merge(first, last, first, last, to, named); });
    expect_cancelled([&] { fj::parallel_merge(first, last, first, last, to, greater, {.stop = &token}); });

    expect_cancelled([&] { return fj::parallel_find(v, 3, {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_find(first, last, 3, named); });
    expect_cancelled([&] { return fj::parallel_find_if(v, is_odd, named); });
    expect_cancelled([&] { return fj::parallel_find_if(first, last, is_odd, {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_any_of(v, is_odd, {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_any_of(first, last, is_odd, named); });
    expect_cancelled([&] { return fj::parallel_none_of(v, is_odd, named); });
    expect_cancelled([&] { return fj::parallel_none_of(first, last, is_odd, {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_all_of(v, is_odd, {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_all_of(first, last, is_odd, named); });

    expect_cancelled([&] { fj::parallel_partition(v, is_odd, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_partition(first, last, is_odd, named); });
    expect_cancelled([&] { fj::parallel_stable_partition(v, is_odd, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_stable_partition(first, last, is_odd, named); });
    expect_cancelled([&] { fj::parallel_copy_if(v, to, is_odd, named); });
    expect_cancelled([&] { fj::parallel_copy_if(first, last, to, is_odd, {.stop = &token}); });

    expect_cancelled([&] { fj::parallel_scan(v, to, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_scan(first, last, to, named); });
    expect_cancelled([&] { fj::parallel_scan(v, to, std::plus<>(), 1, named); });
    expect_cancelled([&] { fj::parallel_inclusive_scan(v, to, named); });
    expect_cancelled([&] { fj::parallel_inclusive_scan(first, last, to, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_exclusive_scan(v, to, 1, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_exclusive_scan(first, last, to, 1, named); });

    expect_cancelled([&] { return fj::parallel_reduce(v, 0, std::plus<>(), {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_reduce(first, last, 0, std::plus<>(), named); });
    const auto add = [](long sum, int x) { return sum + x; };
    expect_cancelled([&] { return fj::parallel_reduce(v, 0L, add, std::plus<>(), {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_reduce(first, last, 0L, add, std::plus<>(), named); });
    const auto add_block = [](auto begin, auto end, long sum) { return sum + (end - begin); };
    expect_cancelled([&] { return fj::parallel_reduce(v, 0L, add_block, std::plus<>(), {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_reduce(first, last, 0L, add_block, std::plus<>(), named); });
    expect_cancelled([&] { return fj::parallel_reduce(0, 3, 0L, add_block, std::plus<>(), {.stop = &token}); });
    const auto scan_block = [](auto begin, auto end, long sum, bool) { return sum + (end - begin); };
    expect_cancelled([&] { return fj::parallel_scan(v, 0L, scan_block, std::plus<>(), {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_scan(first, last, 0L, scan_block, std::plus<>(), named); });
    expect_cancelled([&] { return fj::parallel_scan(0, 3, 0L, scan_block, std::plus<>(), named); });
    expect_cancelled(
        [&] { return fj::parallel_transform_reduce(v, 0, std::plus<>(), std::negate<>(), {.stop = &token}); });
    expect_cancelled([&] { return fj::parallel_transform_reduce(v, first, 0, std::plus<>(), std::plus<>(), named); });
    expect_cancelled([&] { fj::parallel_transform(v, to, std::negate<>(), {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_for(v, is_odd, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_for(0, 3, is_odd, named); });
    expect_cancelled([&] { fj::parallel_for(0, 3, 2, is_odd, named); });
    expect_cancelled([&] { fj::parallel_for(0, 3, 2, is_odd, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_for_blocks(0, 3, std::less<>(), named); });
    expect_cancelled([&] { fj::parallel_for_blocks(v, std::less<>(), {.stop = &token}); });
    expect_cancelled([&] { fj::fork_each(v, is_odd, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_for_2d(1, 3, [](std::size_t, std::size_t) {}, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_for_2d(1, 3, 1, 3, [](int, int, int, int) {}, {.stop = &token}); });

    // Two arrays are a range and an output, though they could be taken for two pointers.
    int array[3] = {3, 1, 2}, room[6];
    expect_cancelled([&] { fj::parallel_sort(array, named); });
    expect_cancelled([&] { fj::parallel_merge(array, array, room, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_merge(array, array, room, greater, named); });
    expect_cancelled([&] { fj::parallel_copy_if(array, room, is_odd, named); });
    expect_cancelled([&] { fj::parallel_copy_if(array, room, is_odd, {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_scan(array, room, named); });
    expect_cancelled([&] { fj::parallel_scan(array, room, std::plus<>(), {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_scan(array, room, std::plus<>(), 1, named); });
    expect_cancelled([&] { fj::parallel_exclusive_scan(array, room, 1, named); });
    expect_cancelled([&] { return fj::parallel_reduce(array, 0L, add_block, std::plus<>(), named); });
    expect_cancelled([&] { return fj::parallel_scan(array, 0L, scan_block, std::plus<>(), {.stop = &token}); });
    expect_cancelled([&] { fj::parallel_exclusive_scan(array, room, 1, std::plus<>(), named); });
    expect_cancelled([&] { fj::parallel_transform(array, room, std::negate<>(), named); });
  });
  CHECK(v == std::vector{3, 1, 2});
}

TEST_CASE("a scan of a range begins with the value given") {
  const std::vector<int> v{3, 1, 2};
  std::vector<int> out(3);
  CHECK(fj::parallel_inclusive_scan(v, out.begin(), std::plus<>(), 10) == out.end());
  CHECK(out == std::vector{13, 14, 16});
  CHECK(fj::parallel_scan(v, out.begin(), std::multiplies<>(), 10) == out.end());
  CHECK(out == std::vector{30, 30, 60});
}
