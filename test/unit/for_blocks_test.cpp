// parallel_for with a step, and parallel_for_blocks: each index once, up to the ends of its type; exceptions,
// cancellation.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/parallel_for_blocks.hpp"
#include "test/support.hpp"

namespace {

constexpr std::size_t grains[] = {0, 1, 3, 1000};

// The indices in order, as one P visits them.
template <class First, class Last, class Step>
auto indices(First first, Last last, Step step, std::size_t grain = 0) {
  std::vector<std::common_type_t<First, Last>> seen;
  fj::runtime rt(test::with_procs(1));
  rt.run([&] {
    const auto body = [&](auto i) {
      static_assert(std::is_same_v<decltype(i), std::common_type_t<First, Last>>);
      seen.push_back(i);
    };
    fj::parallel_for(first, last, step, body, {.grain = grain});
  });
  return seen;
}

/// Records blocks, also from several threads at once.
template <class I>
class noted {
 public:
  void operator()(I begin, I end) {
    const std::scoped_lock lock(mutex_);
    blocks_.emplace_back(begin, end);
  }

  /// Whether the blocks are not empty, not longer than the limit, and together [first, last).
  bool cover(I first, I last, std::size_t most) {
    std::sort(blocks_.begin(), blocks_.end());
    for (const auto& [begin, end] : blocks_) {
      if (begin != first || !(begin < end) || static_cast<std::size_t>(end - begin) > most) return false;
      first = end;
    }
    blocks_.clear();
    return first == last;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<I, I>> blocks_;
};

}  // namespace

TEST_CASE("a step leaves out what lies between") {
  for (const std::size_t grain : grains) {
    CHECK(indices(0, 10, 3, grain) == std::vector{0, 3, 6, 9});
    CHECK(indices(1, 10, 3, grain) == std::vector{1, 4, 7});
    CHECK(indices(-7, 4, 5u, grain) == std::vector{-7, -2, 3});
    CHECK(indices(0u, 5L, 1, grain) == std::vector<long>{0, 1, 2, 3, 4});
    CHECK(indices(5, 5, 2, grain).empty());
    CHECK(indices(5, -5, 2, grain).empty());
  }
}

// Tried with i += step while i is below the end: wraps around, and fails.
TEST_CASE("a step does not pass the end of the type") {
  CHECK(indices(INT_MAX - 4, INT_MAX, 3) == std::vector{INT_MAX - 4, INT_MAX - 1});
  CHECK(indices(INT_MIN, INT_MAX, INT_MAX) == std::vector{INT_MIN, -1, INT_MAX - 1});
  CHECK(indices(std::uint8_t(0), std::uint8_t(255), std::uint8_t(100)) == std::vector<std::uint8_t>{0, 100, 200});
  CHECK(indices(0, 3, LLONG_MAX) == std::vector{0});
  CHECK(indices(0, 3, SIZE_MAX) == std::vector{0});
  CHECK(indices(LLONG_MIN, LLONG_MAX, SIZE_MAX) == std::vector{LLONG_MIN});
  CHECK(indices(SIZE_MAX - 2, SIZE_MAX, 2) == std::vector{SIZE_MAX - 2});
}

TEST_CASE("a step that does not lead to the end is refused") {
  const auto none = [](int) { FAIL("called"); };
  const char* const zero =
      "fj::parallel_for: the step is 0, but must be at least 1; to go downwards, go upwards and subtract in the body";
  CHECK_THROWS_WITH_AS(fj::parallel_for(0, 10, 0, none), zero, std::invalid_argument);
  CHECK_THROWS_WITH_AS(fj::parallel_for(5, 0, 0u, none), zero, std::invalid_argument);
  CHECK_THROWS_AS(fj::parallel_for(0, 10, -1, none), std::invalid_argument);
  CHECK_THROWS_AS(fj::parallel_for(-1, 10u, 1, [](unsigned) { FAIL("called"); }), std::invalid_argument);
}

TEST_CASE("a loop with a step visits each index once, throws what comes first, and is cancelled") {
  test::for_each_runtime("steps", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      std::vector<unsigned char> visits(1000), expected(1000);
      for (std::size_t i = 5; i < 1000; i += 7) expected[i] = 1;
      rt.run([&] {
        fj::parallel_for(5, 1000, 7, [&](int i) { ++visits[static_cast<std::size_t>(i)]; }, {.grain = grain});
      });
      CHECK(visits == expected);
      int thrown = -1;
      try {
        rt.run([&] { fj::parallel_for(5, 1000, 7, [](int i) { i < 100 ? void() : throw i; }, {.grain = grain}); });
      } catch (int i) {
        thrown = i;
      }
      CHECK(thrown == 103);
      fj::stop_source source;
      source.request_stop();
      const fj::stop_token token = source.get_token();
      CHECK_THROWS_AS(rt.run([&] { fj::parallel_for(0, 9, 4, [](int) {}, {.grain = grain, .stop = &token}); }),
                      fj::cancelled);
    }
  });
}

// Tried with blocks of one more than the grain: fails.
TEST_CASE("blocks make up indices, iterators and ranges") {
  test::for_each_runtime("blocks", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      const fj::loop_options options{.grain = grain};
      const std::size_t most = grain ? grain : SIZE_MAX;
      std::deque<int> all(test::divided(5000u));
      const auto& const_all = all;
      noted<long> of_indices;
      noted<std::deque<int>::iterator> of_iterators;
      noted<std::deque<int>::const_iterator> of_range;
      noted<std::uint8_t> of_bytes;
      rt.run([&] {
        fj::parallel_for_blocks(-300, 700L, of_indices, options);
        fj::parallel_for_blocks(all.begin(), all.end(), of_iterators, options);
        fj::parallel_for_blocks(const_all, of_range, options);
        fj::parallel_for_blocks(std::uint8_t(3), std::uint8_t(255), of_bytes, options);
      });
      CHECK(of_indices.cover(-300, 700, most));
      CHECK(of_iterators.cover(all.begin(), all.end(), most));
      CHECK(of_range.cover(all.cbegin(), all.cend(), most));
      CHECK(of_bytes.cover(3, 255, most));
      rt.run([&] {
        fj::parallel_for_blocks(3, 3, of_indices, options);
        fj::parallel_for_blocks(3, -3, of_indices, options);
        fj::parallel_for_blocks(all.end(), all.begin(), of_iterators, options);
      });
      CHECK(of_indices.cover(0, 0, 0));
      CHECK(of_iterators.cover(all.begin(), all.begin(), 0));
    }
  });
}

TEST_CASE("blocks throw what comes first, and are cancelled") {
  test::for_each_runtime("throwing blocks", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    for (const std::size_t grain : grains) {
      int thrown = -1;
      const auto throw_from_77 = [](int begin, int end) {
        if (end > 77) throw std::max(begin, 77);
      };
      try {
        rt.run([&] { fj::parallel_for_blocks(0, 500, throw_from_77, {.grain = grain}); });
      } catch (int i) {
        thrown = i;
      }
      CHECK(thrown == 77);
      fj::stop_source source;
      source.request_stop();
      const fj::stop_token token = source.get_token();
      CHECK_THROWS_AS(
          rt.run([&] { fj::parallel_for_blocks(0, 500, [](int, int) {}, {.grain = grain, .stop = &token}); }),
          fj::cancelled);
    }
  });
  CHECK_THROWS_AS(fj::parallel_for_blocks(-1, 5u, [](unsigned, unsigned) {}), std::invalid_argument);
}
