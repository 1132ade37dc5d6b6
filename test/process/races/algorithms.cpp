// Algorithms with functions of the user that race, and without.
#include <cstddef>
#include <cstdint>
#include <forkjoin/forkjoin.hpp>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::use;

namespace {

std::vector<int> numbers(std::size_t n) {
  std::vector<int> a(n);
  std::uint32_t x = 12345;
  for (int& one : a) {
    x = x * 1664525 + 1013904223;
    one = static_cast<int>(x >> 8 & 0xffff);
  }
  return a;
}

std::vector<std::string> words(std::size_t n) {
  std::vector<std::string> all;
  for (const int x : numbers(n))
    all.push_back(std::to_string(x) + (x % 3 == 0 ? " and a tail that needs the heap" : ""));
  return all;
}

CASE(sort_clean) {  // clean
  auto a = numbers(5000);
  fj::parallel_sort(a);
  auto b = words(600);
  fj::parallel_sort(b, std::greater<>());
  auto c = numbers(500);
  fj::parallel_sort(c, {.grain = 50});
}

CASE(sort_counter) {  // racy, merged
  auto a = numbers(2000);
  long calls = 0;
  fj::parallel_sort(a, [&](int x, int y) {
    ++calls;  // race: a b
    return x < y;
  });
  use(calls);
}

CASE(stable_sort_clean) {  // clean
  auto a = numbers(5000);
  fj::parallel_stable_sort(a);
  auto b = words(600);
  fj::parallel_stable_sort(b);
}

CASE(stable_sort_counter) {  // racy, merged
  auto a = numbers(2000);
  long calls = 0;
  fj::parallel_stable_sort(a, [&](int x, int y) {
    ++calls;  // race: a b
    return x < y;
  });
  use(calls);
}

CASE(reduce_clean) {  // clean
  const auto a = numbers(5000);
  long sum = fj::parallel_reduce(a, 0L, std::plus<>());
  use(sum);
  const auto w = words(500);
  std::string all = fj::parallel_reduce(w, std::string(), std::plus<>());
  use(all);
}

CASE(reduce_projection) {  // racy
  const auto a = numbers(40);
  int last = 0;
  int sum = fj::parallel_reduce(a, 0, std::plus<>(), [&](int x) {
    last = x;  // race: a b
    return x;
  });
  use(sum);
  use(last);
}

CASE(reduce_operation) {  // racy
  const auto w = words(500);
  long joins = 0;
  std::string all = fj::parallel_reduce(w, std::string(), [&](std::string x, const std::string& y) {
    ++joins;  // race: a b
    return x.size() < y.size() ? y : x;
  });
  use(all);
  use(joins);
}

CASE(reduce_blocks) {  // clean
  const auto a = numbers(3000);
  long sum = fj::parallel_reduce(
      std::size_t{0}, a.size(), 0L,
      [&](std::size_t begin, std::size_t end, long value) {
        for (; begin != end; ++begin) value += a[begin];
        return value;
      },
      std::plus<>());
  use(sum);
}

CASE(scan_clean) {  // clean
  const auto a = numbers(3000);
  std::vector<int> out(a.size());
  fj::parallel_inclusive_scan(a, out.begin());
  std::vector<int> in_place = a;
  fj::parallel_inclusive_scan(in_place, in_place.begin());
}

CASE(scan_operation) {  // racy, merged
  const auto a = numbers(1000);
  std::vector<int> out(a.size());
  long calls = 0;
  fj::parallel_inclusive_scan(a, out.begin(), [&](int x, int y) {
    ++calls;  // race: a b
    return x + y;
  });
  use(calls);
}

CASE(transform_clean) {  // clean
  const auto a = numbers(1000);
  std::vector<int> out(a.size());
  fj::parallel_transform(a.begin(), a.end(), out.begin(), [](int x) { return x + 1; });
  fj::parallel_transform(out.begin(), out.end(), out.begin(), [](int x) { return x + 1; });
}

CASE(transform_shifted) {  // racy: the output overlaps what other elements come from
  auto a = numbers(1000);
  fj::parallel_transform(a.begin(), a.end() - 1, a.begin() + 1, [](const int& x) {
    return x + 1;  // race: a
  });              // the write is the library's
}

CASE(find_clean) {  // clean
  const auto a = numbers(3000);
  auto at = fj::parallel_find(a, a[2500]);
  use(at);
  bool any = fj::parallel_any_of(a, [](int x) { return x < 0; });
  use(any);
}

CASE(find_counter) {  // racy
  const auto a = numbers(300);
  int calls = 0;
  auto at = fj::parallel_find_if(a, [&](int x) {
    ++calls;  // race: a b
    return x < 0;
  });
  use(at);
}

CASE(copy_if_clean) {  // clean
  const auto a = numbers(3000);
  std::vector<int> out(a.size());
  auto end = fj::parallel_copy_if(a, out.begin(), [](int x) { return x % 2 == 0; });
  use(end);
}

CASE(copy_if_counter) {  // racy
  const auto a = numbers(300);
  std::vector<int> out(a.size());
  int matches = 0;
  auto end = fj::parallel_copy_if(a, out.begin(), [&](int x) {
    if (x % 2 != 0) return false;
    ++matches;  // race: a b
    return true;
  });
  use(end);
}

CASE(partition_clean) {  // clean
  auto a = numbers(3000);
  auto at = fj::parallel_partition(a, [](int x) { return x % 2 == 0; });
  use(at);
  auto b = words(500);
  auto border = fj::parallel_stable_partition(b, [](const std::string& x) { return x.size() < 8; });
  use(border);
}

CASE(partition_counter) {  // racy
  auto a = numbers(300);
  int calls = 0;
  auto at = fj::parallel_partition(a, [&](int x) {
    ++calls;  // race: a b
    return x % 2 == 0;
  });
  use(at);
}

CASE(merge_clean) {  // clean
  std::vector<int> a(1000), b(700), out(1700);
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 500);
  fj::parallel_merge(a, b, out.begin());
}

CASE(combinable_clean) {  // clean
  fj::combinable<std::vector<int>> all;
  fj::parallel_for(0, 300, [&](int i) { all.with_local([i](auto& mine) { mine.push_back(i); }); });
  std::size_t n = 0;
  all.for_each([&](const auto& one) { n += one.size(); });
  use(n);
}

CASE(combinable_beside) {  // racy: what is not in the value is shared
  fj::combinable<int> sum;
  int total = 0;
  fj::parallel_for(0, 300, [&](int i) {
    sum.with_local([&](int& mine) {
      mine += i;
      total += i;  // race: a b
    });
  });
  use(total);
}

}  // namespace
