// The library calls its own functions by their full names. Otherwise functions of the same names in a user's namespace
// would be called instead, or be ambiguous, because arguments of the user's types bring their namespace along.
// (Function objects are not looked up like that, but a user could not write fj::parallel_reduce(...) any
// longer.) Tried with median called without its namespace: does not compile.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <functional>
#include <memory>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

#include "test/support.hpp"

namespace user {

struct item {
  int key;
  auto operator<=>(const item&) const = default;
};

// As good a match for an item* as a template for any type, so that a call that finds them does not compile.
#define GREEDY(name)                      \
  template <class... T>                   \
  void name(item*, T&&...) = delete;      \
  template <class Policy, class... T>     \
  void name(item*, T&&...) = delete;      \
  template <class P, class Q, class... T> \
  void name(item*, T&&...) = delete;
#include "greedy_names.hpp"  // GREEDY(name) for each function of the library: house/greedy_names.py
#undef GREEDY

/// A trap for all other names: to look for functions in its namespace, the compiler needs the complete type, and it is
/// incomplete.
struct incomplete;
template <class T>
struct whole {
  T member;
};
using trap = whole<incomplete>*;

/// A closure, a comparator, ... with the trap in its type.
template <class F, class = trap>
struct trapped : F {
  explicit trapped(F f) : F(std::move(f)) {}
};

}  // namespace user

TEST_CASE("forks, scopes and run are called by their full names") {
  fj::runtime rt(test::with_procs(2));
  int calls = 0;
  user::trapped f([&calls] { ++calls; });
  user::trapped one([] { return 1; });
  user::trapped kept([one = std::make_unique<int>(1)] { return *one; });  // passed on by reference
  rt.run(f);
  fj::run(f);
  CHECK(calls == 2);
  test::for_each_policy([&]<class Policy>(Policy) {
    CHECK(fj::fork_join<Policy>(one, kept) == std::tuple(1, 1));
    CHECK(fj::fork_join<Policy>(user::trapped(one), user::trapped(one), one) == std::tuple(1, 1, 1));
    CHECK(rt.run([&] { return fj::parallel_invoke<Policy>(one, one); }) == std::tuple(1, 1));
    CHECK(rt.run([&] { return fj::fork_join<Policy>(fj::stop_token(), one, one); }) == std::tuple(1, 1));
  });
  calls = 0;
  rt.run([&] {
    fj::scope s;
    s.fork(f);
    s.join();
  });
  fj::with_scope(user::trapped([&](fj::scope& s) { s.fork(f); }));
  CHECK(fj::with_scope(fj::stop_token(), user::trapped([&](fj::scope&) { return 1; })) == 1);
  CHECK(calls == 2);
  fj::combinable<user::trap> pointers;
  const user::trapped first([](user::trap a, user::trap) { return a; });
  CHECK(static_cast<void*>(pointers.combine(first)) == nullptr);
}

TEST_CASE("loops, sums and scans call by their full names") {
  for (const std::size_t grain : {0u, 7u}) {
    const fj::loop_options options{.grain = grain};
    user::trap array[100] = {};
    user::trap* const end = array + 100;
    std::atomic<int> calls = 0;
    const user::trapped body([&](user::trap) { ++calls; });
    fj::parallel_for(array, body, options);
    fj::parallel_for(array, end, body, options);
    fj::parallel_for(0, 100, user::trapped([&](int) { ++calls; }), options);
    fj::fork_each(array, body, options);
    fj::fork_each(array, end, body, options);
    fj::fork_each(0, 100, user::trapped([&](int) { ++calls; }), options);
    fj::parallel_for_2d(10, 10, user::trapped([&](std::size_t, std::size_t) { ++calls; }), options);
    fj::parallel_for_2d(2, 2, user::trapped([&](const fj::block_2d&) { ++calls; }), {.grain = 4});
    fj::parallel_for_2d(-1, 1, -1, 1, user::trapped([&](int, int, int, int) { ++calls; }), {.grain = 4});
    CHECK(calls == 702);
    const user::trapped block([&](auto begin, auto end) { calls += static_cast<int>(end - begin); });
    fj::parallel_for_blocks(array, block, options);
    fj::parallel_for_blocks(array, end, block, options);
    CHECK(calls == 902);

    const user::trapped one([](user::trap) { return 1; });
    const user::trapped product([](user::trap, user::trap) { return 1; });
    const user::trapped plus([](int a, int b) { return a + b; });
    CHECK(fj::parallel_reduce(array, 0, plus, one, options) == 100);
    CHECK(fj::parallel_reduce(array, end, 0, plus, one, options) == 100);
    CHECK(fj::parallel_transform_reduce(array, end, 0, plus, one, options) == 100);
    CHECK(fj::parallel_transform_reduce(array, 0, plus, one, options) == 100);
    const user::trapped count([](int sum, user::trap) { return sum + 1; });
    CHECK(fj::parallel_reduce(array, 0, count, plus, options) == 100);
    CHECK(fj::parallel_reduce(array, end, 0, count, plus, options) == 100);
    const user::trapped count_block([](auto begin, auto end, int sum) { return sum + static_cast<int>(end - begin); });
    CHECK(fj::parallel_reduce(array, 0, count_block, plus, options) == 100);
    CHECK(fj::parallel_reduce(array, end, 0, count_block, plus, options) == 100);
    CHECK(fj::parallel_reduce(0, 100, 0, count_block, plus, options) == 100);
    const user::trapped scan_block(
        [](auto begin, auto end, int sum, bool) { return sum + static_cast<int>(end - begin); });
    CHECK(fj::parallel_scan(array, 0, scan_block, plus, options) == 100);
    CHECK(fj::parallel_scan(array, end, 0, scan_block, plus, options) == 100);
    CHECK(fj::parallel_scan(0, 100, 0, scan_block, plus, options) == 100);
    int out[100];
    CHECK(fj::parallel_transform(array, out, one, options) == out + 100);
    CHECK(fj::parallel_transform(array, end, out, one, options) == out + 100);
    CHECK(fj::parallel_transform(array, end, array, out, product, options) == out + 100);
    const user::trapped same([](user::trap x) { return x; });
    CHECK(static_cast<void*>(fj::parallel_transform(array, array, same)) == static_cast<void*>(end));

    CHECK(std::accumulate(out, out + 100, 0) == 100);
    CHECK(fj::parallel_transform_reduce(out, out + 100, out, 0, plus, plus, options) == 200);
    CHECK(fj::parallel_scan(out, out, plus, options)[-1] == 100);
    CHECK(fj::parallel_exclusive_scan(out, out, 0, plus, options)[-1] == 4950);
    CHECK(fj::parallel_inclusive_scan(out, out + 9, out, plus, 1, options)[-1] == 121);
  }
}

TEST_CASE("sorts and searches call by their full names") {
  fj::runtime rt({.procs = 2, .steal_every_fork = true});
  for (const std::size_t grain : {0u, 50u}) {
    const fj::loop_options options{.grain = grain};
    std::vector<user::item> keys(20'000);
    test::dice random(1);
    for (user::item& one : keys) one.key = static_cast<int>(random.below(1000));
    const auto n = keys.size();
    const auto less = [](const auto& a, const auto& b) { return a < b; };
    const auto is_even = [](int key) { return key % 2 == 0; };
    const auto key = [](const user::item& one) { return one.key; };
    // With a range, or in a projection, the standard library's concepts would fall into the trap.
    const user::trapped by_less(less);
    const user::trapped by_even(is_even);
    const auto on = [&](auto body) {
      std::vector<user::item> own = keys;
      rt.run([&] { body(own.data(), own.data() + n); });
      return own;
    };
    const auto is_sorted = [](const auto& all) { return std::is_sorted(all.begin(), all.end()); };
    CHECK(is_sorted(on([&](auto a, auto b) { fj::parallel_sort(a, b, by_less, {}, options); })));
    CHECK(is_sorted(on([&](auto a, auto b) { fj::parallel_stable_sort(a, b, by_less, key, options); })));
    CHECK(is_sorted(on([&](auto a, auto b) {
      fj::parallel_sort(a, b, std::greater<>());
      fj::parallel_stable_sort(std::ranges::subrange(a, b), less, {}, options);
      fj::parallel_sort(std::ranges::subrange(a, b), less, {}, options);
    })));
    rt.run([&] {
      user::item* const a = keys.data();
      user::item* const b = a + n;
      const std::ranges::subrange all(a, b);
      const auto odd = static_cast<std::size_t>(std::count_if(a, b, [](auto& one) { return one.key % 2 != 0; }));
      std::vector<user::item> out(2 * n);
      CHECK(fj::parallel_copy_if(a, b, out.data(), by_even, key, options) == out.data() + (n - odd));
      CHECK(fj::parallel_copy_if(all, out.data(), is_even, key, options) == out.data() + (n - odd));
      CHECK(fj::parallel_find_if(a, b, by_even, key, options) != b);
      CHECK(fj::parallel_find_if(all, is_even, key, options) != b);
      CHECK(fj::parallel_find(all, -1, key, options) == b);
      CHECK(fj::parallel_any_of(all, is_even, key, options));
      CHECK(!fj::parallel_none_of(all, is_even, key, options));
      CHECK(!fj::parallel_all_of(all, is_even, key, options));
      CHECK(fj::parallel_partition(all, is_even, key, options) == a + (n - odd));
      CHECK(fj::parallel_stable_partition(all, is_even, key, options) == a + (n - odd));
      CHECK(fj::parallel_stable_partition(a, b, by_even, key, options) == a + (n - odd));
      fj::parallel_sort(all);
      CHECK(fj::parallel_merge(all, all, out.data(), less, {}, {}, options) == out.data() + 2 * n);
      CHECK(fj::parallel_merge(a, b, a, b, out.data(), by_less, key, key, options) == out.data() + 2 * n);
      CHECK(is_sorted(out));
    });
  }
}
