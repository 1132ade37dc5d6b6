// parallel_reduce and parallel_transform_reduce: sums of all kinds, the same to the last bit on any runtime.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/loops/fold.hpp"
#include "forkjoin/reduce.hpp"
#include "test/support.hpp"

namespace {

std::vector<double> random_doubles(std::size_t n) {
  test::dice dice(n);
  std::vector<double> all(n);
  for (double& x : all) x = std::ldexp(static_cast<double>(dice.next()), static_cast<int>(dice.below(60)) - 90);
  return all;
}

template <class T>
std::uint64_t bits_of(T x) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(x);
  } else {
    return std::bit_cast<std::uint64_t>(x);
  }
}

// Associative, not commutative.
struct join {
  std::string operator()(std::string a, const std::string& b) const { return std::move(a) + b; }
};

}  // namespace

TEST_CASE("parallel_reduce of strings keeps their order") {
  test::for_each_runtime("strings", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t n : {0u, 1u, 2u, 3u, 130u, 2000u}) {
      for (const std::size_t grain : {0u, 1u, 50u}) {
        std::deque<std::string> words(n);
        for (std::size_t i = 0; i != n; ++i) words[i] = std::to_string(i) + ' ';
        const std::string expected = std::accumulate(words.begin(), words.end(), std::string("start "));
        const fj::loop_options options{.grain = grain};
        rt.run([&] {
          CHECK(fj::parallel_reduce(words, std::string("start "), join(), options) == expected);
          CHECK(fj::parallel_reduce(words.begin(), words.end(), std::string("start "), join(), options) == expected);
          CHECK(fj::parallel_reduce(words, std::size_t(6), std::plus<>(), &std::string::size, options) ==
                expected.size());
        });
      }
    }
  });
}

// Tried with a tree that is cut where a worker is hungry instead of by size: fails.
TEST_CASE_TEMPLATE("parallel_reduce of floating-point numbers gives the same bits on any runtime", T, double, float) {
  for (const std::size_t n : {5u, 1000u, test::divided(50000u)}) {
    const std::vector<double> wide = random_doubles(n);
    const std::vector<T> numbers(wide.begin(), wide.end());
    const auto lambda = [](T a, T b) { return a + b; };
    for (const std::size_t grain : {0u, 1u, 33u}) {
      std::optional<std::uint64_t> sum, other_sum;
      bool same = true;
      test::for_each_runtime("same bits", [&](fj::runtime& rt, unsigned, test::stealing) {
        rt.run([&] {
          const fj::loop_options options{.grain = grain};
          const std::uint64_t a = bits_of(fj::parallel_reduce(numbers, T(0.1), std::plus<>(), options));
          const std::uint64_t b = bits_of(fj::parallel_reduce(numbers, T(0.1), lambda, options));
          same = same && a == sum.value_or(a) && b == other_sum.value_or(b);
          sum = a;
          other_sum = b;
        });
      });
      CHECK(same);
    }
  }
}

// Sums that are not known to be brief, then many that are, of elements of T and of another type. Tried with a fold that
// goes on one by one after the first elements: fails. Tried without the conversion of elements before the fold: fails.
TEST_CASE("parallel_reduce of floating-point numbers gives the same bits when it is brief") {
  for (const std::size_t n : {2u, 15u, 16u, 17u, 31u, 32u, 33u, 63u, 64u, 100u, 1000u, 5000u}) {
    const std::vector<double> doubles = random_doubles(n);
    const std::vector<float> floats(doubles.begin(), doubles.end());
    std::optional<std::array<std::uint64_t, 3>> sums;
    bool same = true;
    test::for_each_runtime("same bits of brief sums", [&](fj::runtime& rt, unsigned, test::stealing) {
      rt.run([&] {
        for (int i = 0; i != 20; ++i) {
          const std::array found{bits_of(fj::parallel_reduce(doubles, 0.1, std::plus<>())),
                                 bits_of(fj::parallel_reduce(floats, 0.1, std::plus<>())),
                                 bits_of(fj::parallel_reduce(floats, 0.1f, [](float a, float b) { return a + b; }))};
          same = same && found == sums.value_or(found);
          sums = found;
        }
      });
    });
    CHECK(same);
  }
}

TEST_CASE("parallel_reduce takes move-only values, indices, and transformations") {
  test::for_each_runtime("kinds", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    rt.run([&] {
      using pointer = std::unique_ptr<int>;
      const auto add = [](pointer a, pointer b) { return std::make_unique<int>(*a + *b); };
      const auto make = [](int x) { return std::make_unique<int>(x); };
      CHECK(*fj::parallel_reduce(std::views::iota(1, 101), make(0), add, make, {.grain = 3}) == 5050);
      CHECK(fj::parallel_reduce(std::views::iota(0, 0), 7, std::plus<>()) == 7);
      CHECK(fj::parallel_reduce(std::vector{3, 9, 2}, 5, [](int a, int b) { return a < b ? b : a; }) == 9);
      const std::vector<bool> bits(100, true);
      CHECK(fj::parallel_reduce(bits, 0, std::plus<>()) == 100);
      const std::vector<int> a(1000, 2);
      const std::deque<long> b(1000, 3);
      CHECK(fj::parallel_transform_reduce(a.begin(), a.end(), b.begin(), 0L, std::plus<>(), std::multiplies<>()) ==
            6000);
      CHECK(fj::parallel_transform_reduce(a.begin(), a.end(), 1, std::plus<>(), std::negate<>()) == -1999);
      CHECK(fj::parallel_transform_reduce(a, 1, std::plus<>(), std::negate<>(), {.grain = 3}) == -1999);
      CHECK(fj::parallel_transform_reduce(a, b.begin(), 1L, std::plus<>(), std::multiplies<>()) == 6001);
    });
  });
}

// Numbers into a string: they do not convert to one. Tried with the blocks joined the other way round: fails.
TEST_CASE("parallel_reduce with a join takes elements of another type than its result") {
  const auto append = [](std::string all, int x) { return std::move(all) + std::to_string(x) + ' '; };
  test::for_each_runtime("joins", [&](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const int n : {0, 1, 2, 3, 130, 2000}) {
      for (const std::size_t grain : {0u, 1u, 50u}) {
        std::deque<int> numbers(static_cast<std::size_t>(n));
        std::iota(numbers.begin(), numbers.end(), 0);
        const std::string expected = std::accumulate(numbers.begin(), numbers.end(), std::string(), append);
        const fj::loop_options options{.grain = grain};
        rt.run([&] {
          CHECK(fj::parallel_reduce(numbers, std::string(), append, join(), options) == expected);
          CHECK(fj::parallel_reduce(numbers.begin(), numbers.end(), std::string(), append, std::plus<>(), options) ==
                expected);
        });
      }
    }
    int thrown = -1;
    const auto throwing = [&](std::string all, int x) { return x < 77 ? append(std::move(all), x) : throw x; };
    try {
      rt.run(
          [&] { return fj::parallel_reduce(std::views::iota(0, 500), std::string(), throwing, join(), {.grain = 7}); });
    } catch (int x) {
      thrown = x;
    }
    CHECK(thrown == 77);
  });
  fj::stop_source source;
  source.request_stop();
  const fj::stop_token token = source.get_token();
  CHECK_THROWS_AS(
      static_cast<void>(fj::parallel_reduce(std::views::iota(0, 5), std::string(), append, join(), {.stop = &token})),
      fj::cancelled);
}

// Each block begins with the identity, and only sums of blocks are joined. The association depends on the sizes alone.
TEST_CASE("parallel_reduce with a join gives the same bits on any runtime") {
  const std::vector<double> numbers = random_doubles(test::divided(50000u));
  const auto add = [](double a, double b) { return a + b; };
  std::optional<std::uint64_t> sum;
  bool same = true;
  test::for_each_runtime("same bits", [&](fj::runtime& rt, unsigned, test::stealing) {
    const double own = rt.run([&] { return fj::parallel_reduce(numbers, 0.0, add, std::plus<>()); });
    same = same && bits_of(own) == sum.value_or(bits_of(own));
    sum = bits_of(own);
  });
  CHECK(same);
}

TEST_CASE("parallel_reduce throws what comes first, and is cancelled") {
  test::for_each_runtime("reduce exceptions", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : {0u, 1u, 7u}) {
      int thrown = -1;
      const auto projection = [](int x) { return x < 77 ? x : throw x; };
      try {
        rt.run([&] {
          return fj::parallel_reduce(std::views::iota(0, 500), 0, std::plus<>(), projection, {.grain = grain});
        });
      } catch (int x) {
        thrown = x;
      }
      CHECK(thrown == 77);
      fj::stop_source source;
      source.request_stop();
      const fj::stop_token token = source.get_token();
      CHECK_THROWS_AS(rt.run([&] {
        return fj::parallel_reduce(std::views::iota(0, 500), 0, std::plus<>(), {.grain = grain, .stop = &token});
      }),
                      fj::cancelled);
    }
  });
}

// First calls, and calls after many that were brief. Tried with the values that come before the exception of another
// one not folded: fails for both sizes.
TEST_CASE_TEMPLATE("parallel_reduce throws what op throws before a later element does", T, int, double) {
  for (const std::size_t n : {std::size_t{100}, std::size_t{100'000}}) {
    const std::vector<T> ones(n, T(1));
    const auto thrown = [&](std::size_t element, std::size_t sum, const fj::loop_options& options) {
      try {
        static_cast<void>(fj::parallel_reduce(
            ones, T(0), [=](T a, T b) { return a + b > static_cast<T>(sum) ? throw std::string("op") : T(a + b); },
            [&, element](const T& x) {
              return static_cast<std::size_t>(&x - ones.data()) == element ? throw std::string("element") : x;
            },
            options));
      } catch (const std::string& what) {
        return what;
      }
      return std::string();
    };
    for (const std::size_t grain : {std::size_t{0}, n / 10}) {
      const auto check = [&] {
        for (int i = 0; i != 2; ++i) {
          CHECK(thrown(n / 10 * 9, n / 4, {.grain = grain}) == "op");
          CHECK(thrown(n / 4, n / 10 * 9, {.grain = grain}) == "element");
          CHECK(thrown(0, 0, {.grain = grain}) == "element");
          CHECK(thrown(n, n - 1, {.grain = grain}) == "op");
          bool none = true;
          for (std::size_t brief = 0; brief != 200'000 / n; ++brief)
            none = none && thrown(n, n, {.grain = grain}) == "";
          CHECK(none);
        }
      };
      CAPTURE(n);
      CAPTURE(grain);
      check();
      test::for_each_runtime("exceptions of op", [&](fj::runtime& rt, unsigned p, test::stealing how) {
        CAPTURE(p);
        CAPTURE(test::name_of(how));
        rt.run(check);
      });
    }
  }
}

// Tried with blocks of body_block alone: 64 GiB are needed.
TEST_CASE("parallel_reduce of very many indices keeps few values") {
  using fj::detail::blocks;
  static_assert(blocks(std::size_t{1} << 50, 0, fj::detail::body_block).count() <= (1u << 20) + 1);
  const auto count = [](std::uint64_t begin, std::uint64_t end, double n) {
    return n + static_cast<double>(end - begin);
  };
  constexpr std::uint64_t many = std::uint64_t{1} << 46;
  CHECK(fj::parallel_reduce(std::uint64_t{0}, many, 0.0, count, std::plus<>()) == static_cast<double>(many));
}

// Tried with room for 1,024 numbers in each: overflows the stack.
TEST_CASE("parallel_reduce of two numbers takes little of the stack") {
  struct chain {
    static long of(int depth) {
      const int two[] = {depth - 1, -1};
      return fj::parallel_reduce(two, two + 2, 0L, std::plus<>(), [](int x) { return x < 0 ? 1L : of(x); });
    }
  };
  const int depth = test::sanitized ? 50 : 200;
  for (const unsigned p : {1u, 2u}) {
    fj::options chosen{.procs = p};
    chosen.stack_size = std::size_t{1} << 20;
    fj::runtime rt(chosen);
    CHECK(rt.run([&] { return chain::of(depth); }) == depth + 2);
  }
}

TEST_CASE("parallel_reduce runs outside of a runtime") {
  CHECK(fj::parallel_reduce(std::views::iota(0, 1000), 0L, std::plus<>()) == 499500);
}

TEST_CASE("fold: every element once, for any number of elements") {
  const auto get = [](auto at) { return *at; };
  const auto lambda = [](double a, double b) { return a + b; };
  const std::plus<> plus;
  for (std::size_t n = 1; n != 200; ++n) {
    std::vector<double> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1.0);
    const double expected = static_cast<double>(n) * static_cast<double>(n + 1) / 2;
    CHECK(fj::detail::fold<double>(numbers.begin(), n, get, plus) == expected);
    CHECK(fj::detail::fold<double>(numbers.begin(), n, get, lambda) == expected);
    CHECK(fj::detail::fold<long>(numbers.begin(), n, get, plus) == static_cast<long>(expected));
  }
}

// The last number that is not 0. Tried with lanes for all operations: fails.
TEST_CASE("fold: operations that are not known to be commutative keep the order") {
  const auto get = [](auto at) { return *at; };
  const auto last = [](double a, double b) { return b == 0 ? a : b; };
  bool right = true;
  for (const std::size_t n : {3u, 16u, 40u, 100u}) {
    for (std::size_t j = 0; j != n; ++j) {
      for (std::size_t i = 0; i != j; ++i) {
        std::vector<double> numbers(n);
        numbers[i] = 1;
        numbers[j] = 2;
        right = right && fj::detail::fold<double>(numbers.begin(), n, get, last) == 2;
      }
    }
  }
  CHECK(right);
}

// Tried with elements added as they are in blocks, but not in short loops: 0, and a number for each block.
TEST_CASE("parallel_reduce into integers converts its elements, however many there are") {
  const auto count_large = [](int sum, auto x) {
    if constexpr (std::is_same_v<decltype(x), int>) return sum + x;
    return sum + (x > 0.5 ? 1 : 0);
  };
  for (const std::size_t n : {2, 1000, 1024, 1025, 5000}) {
    CAPTURE(n);
    const std::vector<double> in(n, 1.75);
    for (const std::size_t grain : {0, 1, 100}) {
      CAPTURE(grain);
      CHECK(fj::parallel_reduce(in, 0, std::plus<>(), {.grain = grain}) == static_cast<int>(n));
      const std::vector<double> small(n, 0.75);
      CHECK(fj::parallel_reduce(small, 0, count_large, {.grain = grain}) == 0);
    }
  }
}
