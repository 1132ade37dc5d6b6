// The parallel algorithms of the standard library, with the same types in both sources.
#include <algorithm>
#include <execution>
#include <functional>
#include <numeric>
#include <vector>

long ALGORITHMS() {
  constexpr auto par = std::execution::par;
  std::vector<int> v(20'000), w(v.size());
  std::iota(v.rbegin(), v.rend(), 0);
  long sum = 0;
  std::for_each(par, v.begin(), v.end(), [](int& n) { n += 1; });
  std::transform(par, v.begin(), v.end(), w.begin(), std::negate<>());
  std::sort(par, v.begin(), v.end());
  std::stable_sort(par, w.begin(), w.end(), std::greater<>());
  sum += v[77] + w[5];
  sum += std::reduce(par, v.begin(), v.end(), 0L);
  sum += std::transform_reduce(par, v.begin(), v.end(), w.begin(), 0L) % 1'000;
  std::inclusive_scan(par, v.begin(), v.end(), w.begin());
  sum += w[100];
  std::exclusive_scan(par, v.begin(), v.end(), w.begin(), 1);
  sum += w[100];
  sum += std::count_if(par, v.begin(), v.end(), [](int n) { return n % 3 == 0; });
  sum += std::find(par, v.begin(), v.end(), 9'999) - v.begin();
  sum += std::copy_if(par, v.begin(), v.end(), w.begin(), [](int n) { return n % 2 == 0; }) - w.begin();
  sum += std::unique(par, w.begin(), w.end()) - w.begin();
  sum += *std::max_element(par, v.begin(), v.end()) + *std::min_element(par, v.begin(), v.end());
  std::fill(par, w.begin(), w.end(), 3);
  std::replace(par, w.begin(), w.end(), 3, 4);
  sum += std::all_of(par, w.begin(), w.end(), [](int n) { return n == 4; });
  std::reverse(par, v.begin(), v.end());
  sum += std::partition(par, v.begin(), v.end(), [](int n) { return n < 500; }) - v.begin();
  std::nth_element(par, v.begin(), v.begin() + 50, v.end());
  sum += v[50];
  std::merge(par, w.begin(), w.begin() + 10, w.begin() + 10, w.begin() + 20, v.begin());
  sum += std::equal(par, v.begin(), v.begin() + 20, w.begin());
  sum += std::is_sorted(par, w.begin(), w.end());
  return sum;
}
