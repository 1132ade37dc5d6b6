// A program may ask for more of the processor before it includes the library. g++ then inlines no function that it must
// (always_inline) if it compiles that one for less: "target specific option mismatch".
#include <doctest/doctest.h>

#include <functional>
#include <numeric>
#include <tuple>
#include <vector>

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("popcnt")
#endif

#include "forkjoin/forkjoin.hpp"

// Tried with the constructor of late_result, then with the destructor of fork_loop, always inline: g++ refuses both.
TEST_CASE("the library compiles behind #pragma GCC target") {
  std::vector<int> v(1000), sums(1000);
  fj::parallel_for(0, 1000, [&](int i) { v[static_cast<std::size_t>(i)] = i; });
  CHECK(fj::parallel_reduce(v, 0, std::plus<>()) == 499'500);
  CHECK(fj::fork_reduce(v, 0, std::plus<>(), [](int i) { return 2 * i; }) == 999'000);
  fj::fork_each(v, [](int& x) { x = 1; });
  fj::parallel_scan(v, sums.begin());
  CHECK(sums.back() == 1000);
  int a = 0, b = 0;
  const auto three = fj::fork_join([] { return 1; }, [] { return 2.0; }, [&] { a = 3; });
  fj::fork_join<fj::tasks>([&] { a += std::get<0>(three); }, [&] { b = static_cast<int>(std::get<1>(three)); });
  fj::run([&] {
    fj::scope children;
    children.fork([&] { a += 4; });
    children.fork([&] { b += 4; });
    children.join();
  });
  CHECK(a == 8);
  CHECK(b == 6);
}
