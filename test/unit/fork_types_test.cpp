// What fork_join takes, and the types of what it returns.
#include "forkjoin/fork_join.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "test/forks.hpp"

namespace {

using test::everywhere;
using test::fib;
using test::fork;

struct move_only {
  explicit move_only(int v) : value(std::make_unique<int>(v)) {}
  std::unique_ptr<int> value;
};

struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};

int three() { return 3; }

}  // namespace

TEST_CASE("fork_join: values of different types, of two to five closures") {
  everywhere("values", [](fj::runtime& rt, auto policy) {
    const auto two = rt.run([=] { return fork(policy, [] { return 1; }, [] { return std::string("two"); }); });
    static_assert(std::is_same_v<decltype(two), const std::tuple<int, std::string>>);
    CHECK(two == std::tuple(1, std::string("two")));
    CHECK(rt.run([=] { return fork(policy, [] { return 1; }, [] { return 2.5; }, [] { return 'c'; }); }) ==
          std::tuple(1, 2.5, 'c'));
    CHECK(rt.run([=] {
      return fork(policy, [] { return 1; }, [] { return 2; }, [] { return 3; }, [] { return 4; });
    }) == std::tuple(1, 2, 3, 4));
    CHECK(rt.run([=] {
      return fork(
          policy, [] { return 1; }, [] { return 2u; }, [] { return 3L; }, [] { return 4.0f; },
          [] { return std::string(100, '5'); });
    }) == std::tuple(1, 2u, 3L, 4.0f, std::string(100, '5')));
  });
}

TEST_CASE("fork_join: void alone, and among others") {
  everywhere("void", [](fj::runtime& rt, auto policy) {
    int a = 0, b = 0, c = 0;
    static_assert(std::is_void_v<decltype(fork(policy, [] {}, [] {}))>);
    static_assert(std::is_void_v<decltype(fork(policy, [] {}, [] {}, [] {}))>);
    rt.run([&] { fork(policy, [&] { a = 1; }, [&] { b = 2; }); });
    CHECK(a + b == 3);
    rt.run([&] { fork(policy, [&] { a = 4; }, [&] { b = 5; }, [&] { c = 6; }); });
    CHECK(a + b + c == 15);
    const auto mixed = rt.run([&] { return fork(policy, [&] { a = 7; }, [] { return 8; }, [&] { c = 9; }); });
    static_assert(std::is_same_v<decltype(mixed), const std::tuple<std::monostate, int, std::monostate>>);
    CHECK(a + std::get<1>(mixed) + c == 24);
  });
}

TEST_CASE("fork_join: references stay references") {
  everywhere("references", [](fj::runtime& rt, auto policy) {
    int a = 1;
    const std::string b = "b";
    std::string c = "c";
    rt.run([&] {
      auto result = fork(
          policy, [&]() -> int& { return a; }, [&]() -> const std::string& { return b; },
          [&]() -> std::string&& { return std::move(c); });
      static_assert(std::is_same_v<decltype(result), std::tuple<int&, const std::string&, std::string&&>>);
      std::get<0>(result) = 2;
      CHECK(&std::get<1>(result) == &b);
      const std::string taken = std::get<2>(std::move(result));
      CHECK(taken == "c");
    });
    CHECK(a == 2);
    CHECK(c.empty());
    auto [first, second] = rt.run([&] { return fork(policy, [&]() -> int& { return a; }, [&] { return a; }); });
    static_assert(std::is_same_v<decltype(first), int&>);
    CHECK(&first == &a);
    CHECK(second == 2);
  });
}

TEST_CASE("fork_join: results that are const, move-only, or have no default") {
  everywhere("results", [](fj::runtime& rt, auto policy) {
    auto [a, b, c] = rt.run([=] {
      return fork(
          policy, []() -> const std::string { return "1"; }, [] { return move_only(2); }, [] { return no_default(3); });
    });
    static_assert(std::is_same_v<decltype(a), std::string>);
    CHECK(a == "1");
    CHECK(*b.value == 2);
    CHECK(c.value == 3);
    auto [d, e] = rt.run([=] { return fork(policy, [] { return move_only(4); }, [] { return move_only(5); }); });
    CHECK(*d.value * *e.value == 20);
  });
}

TEST_CASE("fork_join: results with an operator new of their own") {
  struct value {
    int key;
    static void* operator new(std::size_t n) { return ::operator new(n); }
    static void operator delete(void* p) { ::operator delete(p); }
  };
  everywhere("operator new", [](fj::runtime& rt, auto policy) {
    const auto [a, b] = rt.run([&] { return fork(policy, [] { return value{1}; }, [] { return value{2}; }); });
    CHECK(a.key + b.key == 3);
  });
}

TEST_CASE("fork_join: closures of all kinds") {
  everywhere("closures", [](fj::runtime& rt, auto policy) {
    // Lvalues, also const and mutable ones: the caller's own object runs.
    int calls = 0;
    auto counting = [count = 0, &calls]() mutable { return calls += ++count; };
    const auto constant = [x = 5] { return x; };
    rt.run([&] {
      fork(policy, counting, constant);
      fork(policy, constant, counting);
    });
    CHECK(calls == 3);

    // Large and move-only closures are used where they are.
    std::vector<int> numbers(1000, 1);
    auto large = [values = std::move(numbers), owner = std::make_unique<int>(7)] {
      return std::accumulate(values.begin(), values.end(), *owner);
    };
    CHECK(rt.run([&] { return fork(policy, std::move(large), constant); }) == std::tuple(1007, 5));
    CHECK(rt.run([&] { return fork(policy, constant, std::move(large)); }) == std::tuple(5, 1007));

    // Functions, and objects with an operator() for lvalues only.
    struct only_lvalue {
      int operator()() & { return 1; }
      int operator()() && = delete;
    };
    CHECK(rt.run([&] { return fork(policy, only_lvalue(), only_lvalue()); }) == std::tuple(1, 1));
    int (*const function)() = +[] { return 3; };
    CHECK(rt.run([&] { return fork(policy, function, function); }) == std::tuple(3, 3));
    CHECK(rt.run([&] { return fork(policy, three, three); }) == std::tuple(3, 3));
    CHECK(rt.run([&] { return fork(policy, three, three, three); }) == std::tuple(3, 3, 3));

    const auto safe = [&]() noexcept { return 4; };
    CHECK(rt.run([&] { return fork(policy, safe, safe, constant); }) == std::tuple(4, 4, 5));
  });
}

TEST_CASE("fork_join: outside of a runtime it enters the default one") {
  const test::watchdog dog("fork_join outside", fj::procs());
  test::for_each_policy([](auto policy) {
    CHECK(fj::this_proc() == -1);
    auto [a, b, c] = fork(
        policy, [] { return fj::this_proc(); }, [=] { return fib(policy, 15); }, [] { return fj::this_proc() >= 0; });
    CHECK(a >= 0);
    CHECK(b == 610);
    CHECK(c);
    CHECK(fj::this_proc() == -1);
    CHECK_THROWS_AS(fork(policy, [] { throw 1; }, [] {}), int);
    CHECK(fib(policy, 12) == 144);
  });
}

TEST_CASE("fork_join: a token that is never asked to stop changes nothing") {
  everywhere("token", [](fj::runtime& rt, auto policy) {
    const fj::stop_source source;
    const fj::stop_token token = source.get_token();
    int a = 0;
    rt.run([&] {
      const auto two = [] { return move_only(2); };
      auto three = fork(policy, token, [&]() -> int& { return a; }, two, [&] { a = 3; });
      static_assert(std::is_same_v<decltype(three), std::tuple<int&, move_only, std::monostate>>);
      CHECK(&std::get<0>(three) == &a);
      CHECK(*std::get<1>(three).value == 2);
      CHECK(a == 3);
      static_assert(std::is_void_v<decltype(fork(policy, token, [] {}, [] {}))>);
    });
    CHECK_THROWS_AS(rt.run([&] { fork(policy, token, [] {}, [] { throw 1; }); }), int);
  });
}

// If all closures start in any case (tried), nothing is thrown.
TEST_CASE("fork_join: what has not started when the token is asked to stop does not start") {
  everywhere("stopped", [](fj::runtime& rt, auto policy) {
    constexpr bool in_order = test::runs_first_child<decltype(policy)>;
    fj::stop_source source;
    const fj::stop_token token = source.get_token();
    std::atomic<int> ran{0};
    const auto count = [&] { ++ran; };
    bool cancelled = false;
    try {
      rt.run([&] { fork(policy, token, [&] { source.request_stop(); }, count, count); });
    } catch (const fj::cancelled&) {
      cancelled = true;
    }
    CHECK(cancelled == (ran < 2));
    if (rt.procs() == 1 && in_order) CHECK(ran == 0);
    // Asked to stop before the fork.
    ran = 0;
    CHECK_THROWS_AS(rt.run([&] { fork(policy, token, count, count); }), fj::cancelled);
    CHECK(ran == 0);
    // The exception of an earlier closure comes first.
    fj::stop_source another;
    const auto fail = [&] {
      another.request_stop();
      throw 1;
    };
    CHECK_THROWS_AS(rt.run([&] { fork(policy, another.get_token(), fail, count); }), int);
  });
}

TEST_CASE("parallel_invoke is fork_join") {
  test::for_each_runtime("parallel_invoke", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    test::for_each_policy([&](auto policy) {
      using chosen = decltype(policy);
      int a = 0;
      rt.run([&] {
        auto two = fj::parallel_invoke<chosen>([&]() -> int& { return a; }, [] { return move_only(2); });
        static_assert(std::is_same_v<decltype(two), std::tuple<int&, move_only>>);
        CHECK(*std::get<1>(two).value == 2);
        static_assert(std::is_void_v<decltype(fj::parallel_invoke<chosen>([] {}, [] {}))>);
        fj::parallel_invoke<chosen>([] {}, [] {}, [&] { a = 3; });
        CHECK(std::get<0>(two) == 3);
      });
      CHECK_THROWS_AS(rt.run([] { fj::parallel_invoke<chosen>([] { throw 1; }, [] { throw 2L; }); }), int);
      fj::stop_source source;
      source.request_stop();
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_invoke<chosen>(source.get_token(), [] {}, [] {}); }), fj::cancelled);
    });
  });
}
