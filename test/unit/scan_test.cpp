// Scans: against std, the same bits on any runtime, in place, and with strands that sum up blocks ahead.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forkjoin/scan.hpp"
#include "test/support.hpp"

namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 129, 1000, 20'000};
constexpr std::size_t grains[] = {0, 1, 17, 5000};

template <class Body>
void for_each_case(const char* what, Body body) {
  test::for_each_runtime(what, [&](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t n : sizes) {
      for (const std::size_t grain : grains) {
        CAPTURE(n);
        CAPTURE(grain);
        rt.run([&] { body(n, fj::loop_options{.grain = grain}); });
      }
    }
  });
}

}  // namespace

TEST_CASE("scans of integers are std's") {
  for_each_case("integers", [](std::size_t n, const fj::loop_options& options) {
    std::vector<int> in(n), expected(n), out(n);
    for (std::size_t i = 0; i != n; ++i) in[i] = static_cast<int>(i * i % 37) - 10;

    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    CHECK(fj::parallel_scan(in.begin(), in.end(), out.begin(), std::plus<>(), options) == out.end());
    CHECK(out == expected);
    std::deque<int> elsewhere(n);
    CHECK(fj::parallel_inclusive_scan(in, elsewhere.begin(), std::plus<>(), options) == elsewhere.end());
    CHECK(std::ranges::equal(elsewhere, expected));

    const auto max = [](int a, int b) { return std::max(a, b); };
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), max, 5);
    CHECK(fj::parallel_scan(in.begin(), in.end(), out.begin(), max, 5, options) == out.end());
    CHECK(out == expected);

    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 3);
    CHECK(fj::parallel_exclusive_scan(in, out.begin(), 3, std::plus<>(), options) == out.end());
    CHECK(out == expected);
    fj::parallel_exclusive_scan(in.begin(), in.end(), in.begin(), 3, std::plus<>(), options);
    CHECK(in == expected);
  });
}

TEST_CASE("scans keep the order of operations that do not commute, also in place") {
  for_each_case("strings", [](std::size_t n, const fj::loop_options& options) {
    if (n > 200) return;
    std::vector<std::string> in(n), expected(n);
    for (std::size_t i = 0; i != n; ++i) in[i] = static_cast<char>('a' + i % 26);
    std::vector<std::string> both = in;
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    fj::parallel_scan(both, both.begin(), std::plus<>(), options);
    CHECK(both == expected);
    both = in;
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), std::string("start"));
    fj::parallel_exclusive_scan(both, both.begin(), std::string("start"), std::plus<>(), options);
    CHECK(both == expected);
  });
}

// Tried with prefixes that go on from the last sum of the block instead of the block's own sum: fails. Tried with sums
// of blocks that take steps only from two steps on, while the scan of a block takes one: fails with the grain 10.
TEST_CASE("scans of floating-point numbers give the same bits on any runtime") {
  for (const std::size_t n : {50u, 1000u, test::divided(30000u)}) {
    test::dice dice(n);
    std::vector<double> in(n);
    for (double& x : in) x = std::ldexp(static_cast<double>(dice.next()), static_cast<int>(dice.below(60)) - 90);
    const auto lambda = [](double a, double b) { return a + b; };
    for (const std::size_t grain : {0u, 1u, 10u, 20u, 33u}) {
      const fj::loop_options options{.grain = grain};
      std::vector<std::vector<double>> expected;
      bool same = true;
      test::for_each_runtime("same bits", [&](fj::runtime& rt, unsigned, test::stealing) {
        std::vector<std::vector<double>> outs(4, std::vector<double>(n));
        rt.run([&] {
          fj::parallel_scan(in, outs[0].begin(), std::plus<>(), options);
          fj::parallel_scan(in, outs[1].begin(), lambda, options);
          fj::parallel_scan(in.begin(), in.end(), outs[2].begin(), lambda, 0.1, options);
          fj::parallel_exclusive_scan(in, outs[3].begin(), 0.1, std::plus<>(), options);
        });
        if (expected.empty()) expected = outs;
        same = same && outs == expected;
      });
      CHECK(same);
      bool close = true;
      double sum = 0;
      for (std::size_t i = 0; i != n; ++i) {
        sum += in[i];
        close = close && std::abs(expected[0][i] - sum) <= 1e-9 * sum && std::abs(expected[1][i] - sum) <= 1e-9 * sum;
      }
      CHECK(close);
    }
  }
}

// The strand that scans waits in its first operation until a thief sums up blocks ahead of it: the scan has forked by
// then, because there are hungry workers when it begins. With two P the thief waits in its fifth block until the strand
// has finished the first third of the sequence. So the test needs no clock: the scan uses the thief's sums, and the
// strand goes on where they end, unless it stood still while the thief summed up 35 blocks more. With steal_every_fork
// nothing waits, because there a strand may not wait for its own continuation. Tried with `use` leaving out the last
// block, and with the scan going on one block too far to the right: fails; with sum_ahead returning at once: hangs.
TEST_CASE("scans use the sums of blocks ahead, and go on where these end") {
  test::for_each_runtime(
      "ahead",
      [](fj::runtime& rt, unsigned p, test::stealing how) {
        CAPTURE(p);
        CAPTURE(test::name_of(how));
        const bool by_turns = how != test::stealing::every_fork;
        unsigned went_on = 0;
        for (unsigned round = 0; round != test::divided(20u); ++round) {
          constexpr int n = 120, third = 40, blocks_ahead = 40;
          std::atomic<int> ahead = 0, scanned = 0;
          const auto op = [&](int a, int b) {
            if (a == 1 && b == 1) {  // only in the sum of a block by itself; other sums are 100 or more
              if (++ahead == 5 && by_turns && p == 2) test::spin_until([&] { return scanned >= third; });
            } else if (b == 1) {
              if (by_turns) test::spin_until([&] { return ahead > 0; });
              ++scanned;
            }
            return a + b;
          };
          const std::vector<int> in(n, 1);
          std::vector<int> out(n), expected(n);
          std::iota(expected.begin(), expected.end(), 101);
          rt.run([&] {
            test::spin_until([] { return fj::detail::hungry(); });
            fj::parallel_scan(in.begin(), in.end(), out.begin(), op, 100, {.grain = 2});
          });
          CHECK(out == expected);
          if (by_turns) CHECK(ahead > 0);
          went_on += ahead < blocks_ahead;
        }
        if (by_turns && p == 2 && test::divisor() == 1) CHECK(went_on > 0);
      },
      2);
}

// The strand that scans waits in its first element until a thief has summed up one further right. Tried with the first
// part run without a fork: hangs. Likewise the sum of a double's block, whose elements the strand adds up before.
TEST_CASE("a scan without a grain begins alone, but a thief takes the blocks behind a part that lasts") {
  test::for_each_runtime(
      "alone",
      [](fj::runtime& rt, unsigned p, test::stealing how) {
        CAPTURE(p);
        CAPTURE(test::name_of(how));
        const bool waits = how != test::stealing::every_fork;
        const auto check = [&]<class T>(T) {
          constexpr std::size_t n = 10'000;
          for (int round = 0; round != 10; ++round) {
            std::atomic<bool> has_begun = false, is_helped = false;
            const auto op = [&](T a, T b) {
              if (!has_begun.exchange(true)) {
                if (waits) test::spin_until([&] { return is_helped.load(); });
              } else if (!is_helped) {
                is_helped = true;
              }
              return a + b;
            };
            const std::vector<T> in(n, 1);
            std::vector<T> out(n), expected(n);
            std::iota(expected.begin(), expected.end(), T(2));
            rt.run([&] { fj::parallel_scan(in.begin(), in.end(), out.begin(), op, T(1)); });
            CHECK(out == expected);
          }
        };
        check(0);
        check(0.0);
      },
      2);
}

TEST_CASE("scans throw what the operation throws, and are cancelled") {
  test::for_each_runtime("scan exceptions", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::vector<int> in(500, 1), out(500);
    for (const std::size_t grain : {0u, 1u, 7u}) {
      const auto op = [](int a, int b) { return a < 70 ? a + b : throw a; };
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_scan(in, out.begin(), op, {.grain = grain}); }), int);
      fj::stop_source source;
      source.request_stop();
      const fj::stop_token token = source.get_token();
      const fj::loop_options stopped{.grain = grain, .stop = &token};
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_scan(in, out.begin(), std::plus<>(), stopped); }), fj::cancelled);
    }
  });
}

// Tried with sums ahead whose exceptions leave the scan (sum_ahead), and with prefixes whose do (turn_into_prefixes).
TEST_CASE("scans throw what comes first, whatever throws ahead of it") {
  struct kept {
    int value = 0;
    kept& operator=(int v) {
      if (v > 45'000) throw std::string("kept");
      value = v;
      return *this;
    }
  };
  constexpr int n = 100'000;
  std::vector<int> values(n, 1), sums(n);
  values[48'000] = -7;
  std::vector<kept> out(n);
  const auto bad = [](int a, int b) { return a == -7 || b == -7 ? throw std::string("bad") : a + b; };
  const auto big = [&](int a, int b) { return bad(a, b) > 45'000 ? throw std::string("big") : a + b; };
  const auto thrown_by = [](auto scan) {
    try {
      scan();
    } catch (const std::string& what) {
      return what;
    }
    return std::string();
  };
  test::for_each_runtime("what comes first", [&](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([&] {
      for (int round = 0; round != 20; ++round) {
        const fj::loop_options options{.grain = round % 2 == 0 ? 0u : 500u};
        CHECK(thrown_by([&] { fj::parallel_inclusive_scan(values, out.begin(), bad, options); }) == "kept");
        CHECK(thrown_by([&] { fj::parallel_inclusive_scan(values, sums.begin(), big, options); }) == "big");
        CHECK(thrown_by([&] {
                fj::parallel_scan(
                    0, n, 0,
                    [&](int begin, int end, int sum, bool is_final) {
                      if (is_final && end > 37'000) throw std::string("kept");
                      for (; begin != end; ++begin) sum = bad(sum, values[static_cast<std::size_t>(begin)]);
                      return sum;
                    },
                    [](int a, int b) { return a + b > 40'000 ? throw std::string("join") : a + b; }, options);
              }) == "kept");
      }
    });
  });
}

TEST_CASE("scans run outside of a runtime") {
  std::vector<int> all(1000, 1);
  fj::parallel_scan(all, all.begin());
  CHECK(all.back() == 1000);
}

// With one P and every fork stolen, the blocks ahead are summed up while the strand that scans waits for its own forks.
// Without a check of the token there (tried), all blocks are summed up.
TEST_CASE("scans that are asked to stop sum up no more blocks ahead") {
  fj::runtime rt(test::with(1, test::stealing::every_fork));
  fj::stop_source source;
  const fj::stop_token token = source.get_token();
  const std::vector<int> in(640, 1);
  std::vector<int> out(in.size());
  std::atomic<int> calls{0};
  const auto op = [&](int a, int b) {
    if (++calls == 5) source.request_stop();
    return a + b;
  };
  CHECK_THROWS_AS(rt.run([&] { fj::parallel_scan(in, out.begin(), op, {.grain = 64, .stop = &token}); }),
                  fj::cancelled);
  CHECK(calls <= 64);
}

namespace {

// An operation whose result does not depend on the association, although its type does not say so.
struct largest {
  std::atomic<int>& calls;  // strands that sum up blocks ahead call it, too
  double operator()(double a, double b) const {
    ++calls;
    return std::max(a, b);
  }
};

struct largest_undeclared : largest {};

}  // namespace

template <>
inline constexpr bool fj::exactly_associative<largest, double> = true;

TEST_CASE("an operation that is said to be exactly associative is called once an element on one P") {
  fj::runtime rt(test::with_procs(1));
  std::vector<double> in(1000), expected(in.size()), out(in.size());
  for (std::size_t i = 0; i != in.size(); ++i) in[i] = static_cast<double>(i * i % 997);
  std::atomic<int> calls{0};
  const largest op{calls};
  std::inclusive_scan(in.begin(), in.end(), expected.begin(), op);
  calls = 0;
  rt.run([&] { fj::parallel_scan(in, out.begin(), op); });
  CHECK(calls == 999);
  CHECK(out == expected);
  calls = 0;
  rt.run([&] { fj::parallel_scan(in, out.begin(), largest_undeclared{calls}); });
  CHECK(calls > 1500);
  CHECK(out == expected);
  fj::runtime eager(test::with(1, test::stealing::every_fork));  // sums up ahead
  std::fill(out.begin(), out.end(), 0.0);
  eager.run([&] { fj::parallel_scan(in, out.begin(), op); });
  CHECK(out == expected);
}

// Tried with elements added as they are: results differ, as a sum of an int and a double is rounded.
TEST_CASE("a scan into integers converts its elements, and gives the same on any runtime") {
  std::vector<double> in(2000);
  for (std::size_t i = 0; i != in.size(); ++i) in[i] = static_cast<double>(i * i % 37) * 0.75 - 10.5;
  const std::vector<int> integers(in.begin(), in.end());
  std::vector<int> expected(in.size());
  std::exclusive_scan(integers.begin(), integers.end(), expected.begin(), 0);
  test::for_each_runtime("mixed", [&](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      std::vector<int> out(in.size());
      rt.run([&] { fj::parallel_exclusive_scan(in, out.begin(), 0, std::plus<>(), {.grain = grain}); });
      CHECK(out == expected);
    }
  });
}

// Tried with elements passed on as rvalues: what was moved from is read again, and is empty.
TEST_CASE("a scan of rvalues moves from none, as it may read them twice") {
  for_each_case("rvalues", [](std::size_t n, const fj::loop_options& options) {
    if (n > 1000) return;  // the sums of 20,000 take 200 MB
    std::vector<std::string> in(n), expected(n), out(n);
    for (std::size_t i = 0; i != n; ++i) in[i] = std::string(1, static_cast<char>('a' + i % 26));
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    auto rvalues = in | std::views::transform([](std::string& s) -> std::string&& { return std::move(s); });
    fj::parallel_scan(rvalues, out.begin(), std::plus<>(), options);
    CHECK(out == expected);
  });
}

namespace {

// What compiles.
template <class Range, class T>
constexpr bool by_blocks = requires(Range& range, T value) {
  fj::parallel_scan(range, value, [](auto, auto, T x, bool) { return x; }, [](T x, T) { return x; });
  fj::parallel_scan(
      range.begin(), range.end(), value, [](auto, auto, T x, bool) { return x; }, [](T x, T) { return x; });
};
template <class Index, class Body>
constexpr bool by_index = requires(Index i, Body& body) { fj::parallel_scan(i, i, 0, body, std::plus<>()); };

using fold = int (*)(long, long, int);
using scan = int (*)(long, long, int, bool);
static_assert(by_blocks<std::vector<int>, long> && by_blocks<std::vector<int>, int*>);
static_assert(!by_blocks<std::list<int>, long> && !by_blocks<std::vector<int>, std::unique_ptr<int>>);
static_assert(by_index<int, scan> && !by_index<int, fold> && !by_index<char, scan>);

// Writes the sums up to each element to `out`, whose indices are those of the elements.
template <class In, class Out>
auto sums_of(const In& in, Out& out) {
  return [&in, &out]<class I>(I begin, I end, auto sum, bool is_final) {
    for (; begin != end; ++begin) {
      const auto i = [&] {
        if constexpr (fj::detail::index<I>) {
          return static_cast<std::size_t>(begin);
        } else {
          return static_cast<std::size_t>(begin - in.begin());
        }
      }();
      sum = std::move(sum) + in[i];
      if (is_final) out[i] = sum;
    }
    return sum;
  };
}

}  // namespace

// Integers are scanned once on one P; strings, which do not commute, are summed up before. Tried with prefixes that
// leave out the block before, with a body that is never called as final in scan_with_prefixes, and with the identity as
// each prefix: fails.
TEST_CASE("a scan by blocks writes the sums of indices, iterators, ranges, and returns the last") {
  for_each_case("blocks", [](std::size_t n, const fj::loop_options& options) {
    std::vector<int> in(n), expected(n), out(n);
    for (std::size_t i = 0; i != n; ++i) in[i] = static_cast<int>(i * i % 37) - 10;
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    const int total = n == 0 ? 0 : expected.back();
    const auto check = [&](auto scan) {
      std::fill(out.begin(), out.end(), 0);
      CHECK(scan(sums_of(in, out)) == total);
      CHECK(out == expected);
    };
    check([&](auto body) { return fj::parallel_scan(in, 0, body, std::plus<>(), options); });
    check([&](auto body) { return fj::parallel_scan(in.begin(), in.end(), 0, body, std::plus<>(), options); });
    check([&](auto body) { return fj::parallel_scan(0u, n, 0, body, std::plus<>(), options); });

    if (n > 200) return;
    std::vector<std::string> letters(n), words(n), expected_words(n);
    for (std::size_t i = 0; i != n; ++i) letters[i] = static_cast<char>('a' + i % 26);
    std::inclusive_scan(letters.begin(), letters.end(), expected_words.begin());
    const auto append = sums_of(letters, words);
    const std::string all = fj::parallel_scan(letters, std::string(), append, std::plus<>(), options);
    CHECK(all == (n == 0 ? "" : expected_words.back()));
    CHECK(words == expected_words);
    fj::parallel_scan(letters, std::string(), sums_of(letters, letters), std::plus<>(), options);
    CHECK(letters == expected_words);  // a block is summed up before the body writes over it
  });
}

// Tried with prefixes that go on from what the final pass returns: fails.
TEST_CASE("a scan by blocks gives the same bits on any runtime") {
  const std::size_t n = test::divided(30000u);
  test::dice dice(n);
  std::vector<double> in(n), expected;
  for (double& x : in) x = std::ldexp(static_cast<double>(dice.next()), static_cast<int>(dice.below(60)) - 90);
  for (const std::size_t grain : {0u, 1u, 33u}) {
    expected.clear();
    bool same = true;
    test::for_each_runtime("same bits of blocks", [&](fj::runtime& rt, unsigned, test::stealing) {
      std::vector<double> out(n + 1);
      out[n] = rt.run([&] { return fj::parallel_scan(in, 0.0, sums_of(in, out), std::plus<>(), {.grain = grain}); });
      if (expected.empty()) expected = out;
      same = same && out == expected;
    });
    CHECK(same);
  }
}

// Each block is final once; not final before, and with the identity. Tried with sums that begin with the prefix: fails.
TEST_CASE("a scan by blocks: each block is final once, and begins with the identity before") {
  test::for_each_runtime("finals", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    std::vector<std::atomic<int>> finals(100), others(100);
    std::atomic<int> wrong = 0;
    const auto body = [&](int begin, int end, double before, bool is_final) {
      if (end - begin != 10 || before != (is_final ? begin : 0)) ++wrong;
      for (int i = begin; i != end; ++i) ++(is_final ? finals : others)[static_cast<std::size_t>(i)];
      return before + end - begin;
    };
    CHECK(rt.run([&] { return fj::parallel_scan(0, 100, 0.0, body, std::plus<>(), {.grain = 10}); }) == 100);
    CHECK(wrong == 0);
    CHECK(std::ranges::all_of(finals, [](const auto& calls) { return calls == 1; }));
    CHECK(std::ranges::all_of(others, [](const auto& calls) { return calls == 1; }));
  });
}

TEST_CASE("a scan by blocks into integers passes once on one P") {
  fj::runtime rt(test::with_procs(1));
  int passes = 0;
  const auto body = [&](int begin, int end, int before, bool) {
    passes += end - begin;
    return before + end - begin;
  };
  CHECK(rt.run([&] { return fj::parallel_scan(0, 1000, 0, body, std::plus<>()); }) == 1000);
  CHECK(passes == 1000);
}

TEST_CASE(
    "a scan by blocks throws what comes first, is cancelled, and refuses a negative index beside an unsigned one") {
  test::for_each_runtime("throwing blocks", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : {0u, 1u, 7u}) {
      const auto throw_from_77 = [](int begin, int end, double sum, bool) {
        if (end > 77) throw std::max(begin, 77);  // clang 19 frees what `? throw std::max(begin, 77) :` throws
        return sum + 1;
      };
      int thrown = 0;
      try {
        rt.run([&] { fj::parallel_scan(0, 500, 0.0, throw_from_77, std::plus<>(), {.grain = grain}); });
      } catch (int i) {
        thrown = i;
      }
      CHECK(thrown == 77);
      const auto count = [](int, int, double sum, bool) { return sum + 1; };
      const auto join = [](double a, double b) {
        if (a + b >= 4) throw std::string("join");
        return a + b;
      };
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_scan(0, 500, 0.0, count, join, {.grain = grain}); }), std::string);
      fj::stop_source source;
      source.request_stop();
      const fj::stop_token token = source.get_token();
      CHECK_THROWS_AS(
          rt.run([&] { fj::parallel_scan(0, 500, 0.0, count, std::plus<>(), {.grain = grain, .stop = &token}); }),
          fj::cancelled);
    }
  });
  CHECK_THROWS_AS(fj::parallel_scan(
                      -1, 5u, 0, [](unsigned, unsigned, int, bool) { return 0; }, std::plus<>()),
                  std::invalid_argument);
}

// The last element that is not null: a value may be a pointer, which is else an output. Tried with the overload for an
// output chosen by its type alone: does not compile.
TEST_CASE("a scan by blocks takes pointers as values, and a body that can only be moved") {
  const std::vector<const char*> in{nullptr, "a", nullptr, nullptr, "b", nullptr};
  std::vector<const char*> filled(in.size());
  const auto later = [](const char* a, const char* b) { return b ? b : a; };
  const auto fill = [own = std::make_unique<int>(0), &in, &filled](auto begin, auto end, const char* last,
                                                                   bool is_final) {
    for (; begin != end; ++begin) {
      if (*begin) last = *begin;
      if (is_final) filled[static_cast<std::size_t>(begin - in.begin())] = last;
    }
    return last;
  };
  CHECK(fj::parallel_scan(in.begin(), in.end(), static_cast<const char*>(nullptr), std::cref(fill), later) == in[4]);
  CHECK(filled == std::vector{in[0], in[1], in[1], in[1], in[4], in[4]});
  CHECK(fj::parallel_scan(in, static_cast<const char*>(nullptr), std::cref(fill), later) == in[4]);
}
