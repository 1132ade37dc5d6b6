// The parallel loop: every element once, in order on one P, shared out at once, exceptions, cancellation.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "forkjoin/loops/chunks.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/reduce.hpp"
#include "test/support.hpp"

namespace {

constexpr std::size_t grains[] = {0, 1, 3, 1000};

bool each_once(std::size_t n, std::size_t grain) {
  std::vector<unsigned char> visits(n);
  fj::parallel_for(std::size_t(0), n, [&](std::size_t i) { ++visits[i]; }, {.grain = grain});
  return visits == std::vector<unsigned char>(n, 1);
}

// The indices in order, as one P visits them.
template <class First, class Last>
auto indices(First first, Last last) {
  std::vector<std::common_type_t<First, Last>> seen;
  fj::runtime rt(test::with_procs(1));
  rt.run([&] {
    fj::parallel_for(first, last, [&](auto i) {
      static_assert(std::is_same_v<decltype(i), std::common_type_t<First, Last>>);
      seen.push_back(i);
    });
  });
  return seen;
}

// Elements that share words with their neighbours, and so may not be written in parallel.
struct bit {
  operator bool() const;
  const bit& operator=(bool) const;
};
using fj::detail::packed_bits, fj::detail::shares_words;
static_assert(packed_bits<std::vector<bool>::iterator> && packed_bits<std::vector<bool>::reverse_iterator>);
static_assert(packed_bits<std::ranges::iterator_t<std::ranges::take_view<std::ranges::ref_view<std::vector<bool>>>>>);
using copied_bits =
    decltype(std::declval<std::vector<bool>&>() | std::views::transform([](auto&& each) { return each; }));
static_assert(packed_bits<std::ranges::iterator_t<copied_bits>> &&
              !shares_words<std::optional<bool>, std::optional<bool>>);
static_assert(!packed_bits<std::vector<bool>::const_iterator> && !packed_bits<std::deque<bool>::iterator>);
static_assert(!packed_bits<bool*> && !packed_bits<bit*>);
static_assert(shares_words<bit, bool> && shares_words<std::tuple<int&, bit>, std::tuple<int, bool>>);
static_assert(shares_words<std::pair<bit, int&>, std::pair<bool, int>>);
static_assert(!shares_words<std::pair<bool&, int&>, std::pair<bool, int>>);

}  // namespace

TEST_CASE("parallel_for visits each index once") {
  test::for_each_runtime("each index once", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      CAPTURE(grain);
      for (const std::size_t n : {0u, 1u, 2u, 3u, 7u, 64u, 1000u, test::divided(40000u)}) {
        CAPTURE(n);
        CHECK(rt.run([&] { return each_once(n, grain); }));
      }
    }
  });
}

TEST_CASE("parallel_for takes indices of any integral types") {
  CHECK(indices(-2, 3) == std::vector{-2, -1, 0, 1, 2});
  CHECK(indices(0, std::size_t(3)) == std::vector<std::size_t>{0, 1, 2});
  CHECK(indices(2u, 4L) == std::vector<long>{2, 3});
  CHECK(indices(-3L, 0) == std::vector<long>{-3, -2, -1});
  CHECK(indices(5, 5).empty());
  CHECK(indices(5, -5).empty());
  CHECK(indices(7u, 2u).empty());
  CHECK(indices(7, 2u).empty());
  CHECK(indices(3u, -1).empty());
  CHECK(indices(std::uint8_t(250), std::uint8_t(255)).size() == 5);
  CHECK(indices(INT_MIN, INT_MIN + 2) == std::vector{INT_MIN, INT_MIN + 1});
  CHECK(indices(LLONG_MAX - 2, LLONG_MAX) == std::vector{LLONG_MAX - 2, LLONG_MAX - 1});
  CHECK(indices(short(-1), short(1)) == std::vector<short>{-1, 0});
  std::size_t count = 0;
  fj::parallel_for(SCHAR_MIN, SCHAR_MAX + 1, [&](int) { ++count; }, {.grain = 1000});
  CHECK(count == 256);
  CHECK_THROWS_WITH_AS(
      fj::parallel_for(-1, 5u, [](unsigned) {}),
      "fj::parallel_for: the first index is -1, but the other one is unsigned, so the indices would be; "
      "make both signed",
      std::invalid_argument);
}

TEST_CASE("parallel_for takes iterators and ranges") {
  test::for_each_runtime("ranges", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      const fj::loop_options options{.grain = grain};
      rt.run([&] {
        const auto increment = [](int& x) { ++x; };
        std::vector<int> v(100);
        fj::parallel_for(v, increment, options);
        fj::parallel_for(v.begin(), v.end(), increment, options);
        fj::parallel_for(v.rbegin(), v.rend(), increment, options);
        fj::parallel_for(v.data(), v.data() + 50, increment, options);
        fj::parallel_for(std::span(v).subspan(50), increment, options);
        CHECK(v == std::vector<int>(100, 4));
        std::deque<int> d(300);
        fj::parallel_for(d, increment, options);
        CHECK(d == std::deque<int>(300, 1));
        int array[5] = {};
        fj::parallel_for(array, increment, options);
        CHECK(std::accumulate(array, array + 5, 0) == 5);
        std::atomic<int> sum = 0;
        fj::parallel_for(std::views::iota(1, 101), [&](int x) { sum += x; }, options);
        CHECK(sum == 5050);
        const std::vector<bool> bits(100, true);
        fj::parallel_for(bits, [&](bool bit) { sum -= bit; }, options);
        CHECK(sum == 4950);
        struct item {
          std::atomic<int> hits = 0;
          void hit() { ++hits; }
        };
        std::array<item, 3> items;
        fj::parallel_for(items, &item::hit, options);
        CHECK(items[0].hits + items[1].hits + items[2].hits == 3);
      });
    }
  });
}

TEST_CASE("parallel_for on one P is the serial loop") {
  fj::runtime rt(test::with_procs(1));
  for (const std::size_t grain : grains) {
    std::vector<int> order, expected(5000);
    std::iota(expected.begin(), expected.end(), 0);
    rt.run([&] { fj::parallel_for(0, 5000, [&](int i) { order.push_back(i); }, {.grain = grain}); });
    CHECK(order == expected);
  }
}

// Each body waits for all others, so all must run at once. Without `spread`, the first strand does not fork before its
// first element, and this hangs.
TEST_CASE("parallel_for gives each P its element at once") {
  test::for_each_runtime(
      "at once",
      [](fj::runtime& rt, unsigned p, test::stealing) {
        for (unsigned round = 0; round != test::divided(20u); ++round) {
          std::atomic<unsigned> arrived = 0;
          rt.run([&] {
            fj::parallel_for(0u, p, [&](unsigned) {
              ++arrived;
              test::spin_until([&] { return arrived == p; });
            });
          });
          CHECK(arrived == p);
        }
      },
      2);
}

// All other workers are busy when the loop begins. Later one of them must get a part of the range that the first strand
// works on. Tried without the check between chunks: fails.
TEST_CASE("parallel_for gives workers that come later a part") {
  test::for_each_runtime(
      "come later",
      [](fj::runtime& rt, unsigned p, test::stealing) {
        std::atomic<unsigned> busy = 0;
        std::atomic<bool> go = false, shared = false;
        const auto keep_busy = [&] {
          ++busy;
          test::spin_until([&] { return go.load(); });
        };
        const auto loop = [&] {
          test::spin_until([&] { return busy == p - 1; });
          std::atomic<unsigned> inside = 0;
          constexpr unsigned n = 1'000'000;
          fj::parallel_for(0u, n, [&](unsigned i) {
            if (i == 20) go = true;
            if (shared || i < 20 || i > n / (4 * p)) return;
            if (++inside > 1) shared = true;
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            --inside;
          });
        };
        const auto fork_busy = [&](auto self, unsigned others) -> void {
          if (others == 0) return loop();
          fj::fork_join([&] { keep_busy(); }, [&] { self(self, others - 1); });
        };
        rt.run([&] { fork_busy(fork_busy, p - 1); });
        CHECK(shared);
      },
      2);
}

TEST_CASE("parallel_for throws what the serial loop would throw, and leaves nothing running") {
  test::for_each_runtime("exceptions", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      for (const int first_bad : {0, 1, 13, 99}) {
        std::atomic<int> running = 0;
        int thrown = -1;
        bool alone = false;
        try {
          rt.run([&] {
            fj::parallel_for(0, 100,
                             [&](int i) {
                               ++running;
                               if (i % 7 == 0) std::this_thread::yield();
                               --running;
                               if (i >= first_bad) throw i;
                             },
                             {.grain = grain});
          });
        } catch (int i) {
          thrown = i;
          alone = running == 0;
        }
        CHECK(thrown == first_bad);
        CHECK(alone);
      }
    }
  });
}

// If strands do not check where something was thrown, the strand with the other half goes on to its end.
TEST_CASE("after an exception loops and sums start few elements to the right of it") {
  constexpr int n = 2000;
  std::atomic<bool> thrown = false;
  std::atomic<int> after = 0;
  const auto iteration = [&](int i) {
    if (i == 5) {
      thrown = true;
      throw i;
    }
    if (thrown) ++after;
    std::this_thread::sleep_for(std::chrono::milliseconds(thrown ? 10 : 1));
    return i;
  };
  const auto begun_after = [&](auto body) {
    const test::watchdog dog("hardly anything", 2);
    fj::runtime rt(test::with_procs(2));
    thrown = false;
    after = 0;
    CHECK_THROWS_AS(rt.run(body), int);
    return after.load();
  };
  const auto all = std::views::iota(0, n);
  for (const std::size_t grain : {0u, 1u}) {
    const fj::loop_options options{.grain = grain};
    CHECK(begun_after([&] { fj::parallel_for(all, iteration, options); }) < n / 20);
    CHECK(begun_after([&] { (void)fj::parallel_reduce(all, 0, std::plus<>(), iteration, options); }) < n / 20);
  }
}

TEST_CASE("parallel_for is cancelled") {
  test::for_each_runtime("cancelled", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      fj::stop_source source;
      const fj::stop_token token = source.get_token();
      const fj::loop_options options{.grain = grain, .stop = &token};
      std::atomic<int> count = 0;
      rt.run([&] { fj::parallel_for(0, 100, [&](int) { ++count; }, options); });
      CHECK(count == 100);  // no stop was requested

      count = 0;
      const auto stop_at_first = [&](int i) {
        if (i == 0) source.request_stop();
        ++count;
      };
      bool cancelled = false;
      try {
        rt.run([&] { fj::parallel_for(0, 100'000, stop_at_first, options); });
      } catch (const fj::cancelled&) {
        cancelled = true;
      }
      CHECK(cancelled == (count < 100'000));
      if (p == 1 && grain < 1000)
        CHECK(cancelled);  // with more P other workers may do all the rest before the first element asks to stop

      source.request_stop();
      count = 0;
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_for(0, 100, [&](int) { ++count; }, options); }), fj::cancelled);
      CHECK(count == 0);
      CHECK_NOTHROW(rt.run([&] { fj::parallel_for(0, 0, [&](int) { ++count; }, options); }));  // nothing was left out
    }
  });
}

TEST_CASE("parallel_for is not cancelled if everything had started") {
  fj::runtime rt(test::with_procs(1));
  fj::stop_source source;
  const fj::stop_token token = source.get_token();
  int last = -1;
  const auto stop_at_99 = [&](int i) {
    last = i;
    if (i == 99) source.request_stop();
  };
  CHECK_NOTHROW(rt.run([&] { fj::parallel_for(0, 100, stop_at_99, {.grain = 1, .stop = &token}); }));
  CHECK(last == 99);
}

TEST_CASE("parallel_for runs outside of a runtime, and within itself") {
  std::atomic<int> count = 0;
  fj::parallel_for(0, 50, [&](int) { fj::parallel_for(0, 50, [&](int) { ++count; }); });
  CHECK(count == 2500);
}

TEST_CASE("adaptive_chunk: chunks grow while they are short, and shrink when they are long") {
  fj::detail::adaptive_chunk chunk;
  CHECK(chunk.size() == 1);
  for (int i = 0; i != 200 && chunk.size() < 64; ++i) {
    chunk.start();
    chunk.adapt();
  }
  const std::size_t grown = chunk.size();
  CHECK(grown >= 64);
  for (int i = 0; i != 40; ++i) {
    chunk.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    chunk.adapt();
  }
  CHECK(chunk.size() == 1);
}
