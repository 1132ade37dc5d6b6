// libstdc++'s parallel algorithms over forkjoin: compiled with forkjoin-tbb before oneTBB. Each is compared with the
// serial one.

#include <algorithm>
#include <cstdio>
#include <execution>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

int main() {
  constexpr auto par = std::execution::par;
  std::vector<long> numbers(200'000), out(numbers.size()), expected(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(1));
  int failed = 0;
  const auto check = [&](const char* name, bool same) {
    std::printf("%s %s\n", name, same ? "as serial" : "DIFFERS");
    failed |= !same;
  };

  auto each = numbers;
  std::for_each(par, each.begin(), each.end(), [](long& n) { n *= 2; });
  std::transform(numbers.begin(), numbers.end(), expected.begin(), [](long n) { return 2 * n; });
  check("for_each", each == expected);
  std::transform(par, numbers.begin(), numbers.end(), out.begin(), [](long n) { return 2 * n; });
  check("transform", out == expected);
  check("reduce",
        std::reduce(par, numbers.begin(), numbers.end()) == std::accumulate(numbers.begin(), numbers.end(), 0L));
  check("transform_reduce", std::transform_reduce(par, numbers.begin(), numbers.end(), out.begin(), 0L) ==
                                std::inner_product(numbers.begin(), numbers.end(), out.begin(), 0L));
  std::inclusive_scan(par, numbers.begin(), numbers.end(), out.begin());
  std::inclusive_scan(numbers.begin(), numbers.end(), expected.begin());
  check("inclusive_scan", out == expected);
  std::exclusive_scan(par, numbers.begin(), numbers.end(), out.begin(), 7L);
  std::exclusive_scan(numbers.begin(), numbers.end(), expected.begin(), 7L);
  check("exclusive_scan", out == expected);
  check("find",
        std::find(par, numbers.begin(), numbers.end(), 77'777L) == std::find(numbers.begin(), numbers.end(), 77'777L));
  const auto is_third = [](long n) { return n % 3 == 0; };
  check("count_if", std::count_if(par, numbers.begin(), numbers.end(), is_third) ==
                        std::count_if(numbers.begin(), numbers.end(), is_third));
  const auto end = std::copy_if(par, numbers.begin(), numbers.end(), out.begin(), is_third);
  const auto expected_end = std::copy_if(numbers.begin(), numbers.end(), expected.begin(), is_third);
  check("copy_if", std::equal(out.begin(), end, expected.begin(), expected_end));
  std::sort(expected.begin(), expected.end());
  auto sorted = numbers, stable = numbers;
  std::sort(par, sorted.begin(), sorted.end());
  std::stable_sort(par, stable.begin(), stable.end(), std::less<>());
  check("sort", std::is_sorted(sorted.begin(), sorted.end()));
  check("stable_sort", stable == sorted);
  return failed;
}
