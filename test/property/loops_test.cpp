// parallel_for, parallel_for_2d and parallel_transform against plain loops, and with bodies and copies that throw at
// any call.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <ranges>
#include <vector>

#include "forkjoin/parallel_for.hpp"
#include "forkjoin/parallel_for_2d.hpp"
#include "forkjoin/transform.hpp"
#include "test/property/iterators.hpp"
#include "test/property/values.hpp"

namespace {

using test::dice;

void loop_once(fj::runtime& rt, dice& random) {
  const std::vector<int> keys = test::random_keys(random);
  const fj::loop_options options = test::random_grain(random);
  const unsigned kind = random.below(6);
  auto elements = test::numbered<std::deque<test::move_only>>(keys);
  std::vector<std::atomic<int>> visits(keys.size());
  const auto visit = [&](const test::move_only& one) { ++visits[static_cast<std::size_t>(one.id())]; };
  rt.run([&] {
    switch (kind) {
      case 0:
        return fj::parallel_for(elements, visit, options);
      case 1:
        return fj::parallel_for(elements.rbegin(), elements.rend(), visit, options);
      case 2:
        return fj::parallel_for(test::plain_begin(elements), test::plain_end(elements), visit, options);
      case 3:
        return fj::parallel_for(0, keys.size(), [&](std::size_t i) { visit(elements[i]); }, options);
      case 4:
        return fj::parallel_for(
            std::views::iota(std::size_t(0), keys.size()) | std::views::reverse,
            [&](std::size_t i) { visit(elements[i]); }, options);
      default:
        return fj::parallel_for(std::as_const(elements) | std::views::take(keys.size()), visit, options);
    }
  });
  CHECK(std::ranges::all_of(visits, [](int count) { return count == 1; }));
}

void loop_2d_once(fj::runtime& rt, dice& random) {
  const std::size_t rows = random.below(30), cols = random.below(30);
  const fj::loop_options options = test::random_grain(random);
  std::vector<unsigned char> visits(rows * cols);
  rt.run([&] {
    fj::parallel_for_2d(rows, cols, [&](std::size_t i, std::size_t j) { ++visits[i * cols + j]; }, options);
    fj::parallel_for_2d(
        rows, cols,
        [&](const fj::block_2d& block) {
          for (std::size_t i = block.row_begin; i != block.row_end; ++i)
            for (std::size_t j = block.col_begin; j != block.col_end; ++j) ++visits[i * cols + j];
        },
        options);
    fj::parallel_for_2d(
        1, static_cast<int>(rows) + 1, std::size_t{0}, cols,
        [&](int i, int last_row, std::size_t first_column, std::size_t last_column) {
          for (; i != last_row; ++i)
            for (std::size_t j = first_column; j != last_column; ++j)
              ++visits[(static_cast<std::size_t>(i) - 1) * cols + j];
        },
        options);
  });
  CHECK(std::ranges::all_of(visits, [](int count) { return count == 3; }));
}

void transform_once(fj::runtime& rt, dice& random) {
  const std::vector<int> keys = test::random_keys(random);
  const fj::loop_options options = test::random_grain(random);
  std::vector<bool> odd(keys.size());
  std::transform(keys.begin(), keys.end(), odd.begin(), [](int key) { return key % 2 == 1; });
  std::vector<long> expected(keys.size());
  const auto op = [](int key, bool is_odd) { return is_odd ? -key : 2L * key; };
  std::transform(keys.begin(), keys.end(), odd.begin(), expected.begin(), op);

  std::deque<long> out(keys.size());
  const bool ended = rt.run([&] {
    return fj::parallel_transform(keys.begin(), keys.end(), odd.begin(), test::plain_begin(out), op, options) ==
           test::plain_end(out);
  });
  CHECK(ended);
  CHECK(std::ranges::equal(out, expected));
  std::vector<long> reversed(keys.size());
  rt.run([&] { fj::parallel_transform(out.rbegin(), out.rend(), reversed.begin(), std::identity(), options); });
  std::ranges::reverse(expected);
  CHECK(reversed == expected);
}

// An operation that copies elements, which throw when copied, into place: everything is destroyed once.
void throw_from_transform(fj::runtime& rt, dice& random) {
  using T = test::throwing;
  std::vector<int> keys(20 + random.below(20));
  for (int& key : keys) key = static_cast<int>(random.below(40));
  test::for_every_call([&](long k) {
    const auto in = test::numbered<std::vector<T>>(keys);
    auto out = test::numbered<std::vector<T>>(std::vector<int>(keys.size(), -1));
    bool threw = false;
    T::ops().set(k);
    try {
      rt.run([&] { fj::parallel_transform(in, out.begin(), [](T one) { return one; }, {.grain = 3}); });
    } catch (const test::burnt&) {
      threw = true;
    }
    T::ops().set(0);
    CHECK(T::living() == 2 * static_cast<long>(keys.size()));
    CHECK(T::misused() == 0);
    if (!threw) CHECK(in == out);
    return !threw;
  });
  CHECK(T::living() == 0);
}

// Bodies that throw at some elements: the exception is the plain loop's, and nothing comes twice.
void loop_with_bad_elements(fj::runtime& rt, dice& random) {
  const std::size_t n = 1 + random.below(300);
  const fj::loop_options options = test::random_grain(random);
  std::vector<std::atomic<int>> visits(n);
  std::vector<bool> bad(n);
  for (unsigned i = random.below(4); i > 0; --i) bad[random.below(static_cast<unsigned>(n))] = true;
  const auto first_bad = static_cast<std::size_t>(std::ranges::find(bad, true) - bad.begin());
  std::size_t thrown = n;
  try {
    rt.run([&] {
      fj::parallel_for(
          std::size_t(0), n,
          [&](std::size_t i) {
            ++visits[i];
            if (bad[i]) throw i;
          },
          options);
    });
  } catch (const std::size_t i) {
    thrown = i;
  }
  CHECK(thrown == first_bad);
  for (std::size_t i = 0; i != n; ++i) CHECK((i <= first_bad ? visits[i] == 1 : visits[i] <= 1));
}

// A body that throws at its k-th call, which in parallel may be for any element.
void loop_with_bad_call(fj::runtime& rt, dice& random) {
  const std::size_t n = 20 + random.below(20);
  const fj::loop_options options = test::random_grain(random);
  for (std::size_t k = 1; k <= n + 1; ++k) {
    std::vector<std::atomic<int>> visits(n);
    std::atomic<std::size_t> calls = 0;
    std::size_t thrown = n;
    try {
      rt.run([&] {
        fj::parallel_for(
            std::size_t(0), n,
            [&](std::size_t i) {
              ++visits[i];
              if (++calls == k) throw i;
            },
            options);
      });
    } catch (const std::size_t i) {
      thrown = i;
    }
    CHECK((thrown == n) == (k > n));
    for (std::size_t i = 0; i != n; ++i) CHECK((i <= thrown ? visits[i] == 1 : visits[i] <= 1));
    CHECK(calls >= std::min(k, n));
  }
}

}  // namespace

TEST_CASE("loops visit what plain loops visit") {
  test::for_random_inputs("loops", 10000, [](fj::runtime& rt, dice& random) { loop_once(rt, random); });
}

TEST_CASE("loops over matrices visit each cell") {
  test::for_random_inputs("2d", 2000, [](fj::runtime& rt, dice& random) { loop_2d_once(rt, random); });
}

TEST_CASE("parallel_transform is std::transform") {
  test::for_random_inputs("transform", 10000, [](fj::runtime& rt, dice& random) { transform_once(rt, random); });
}

TEST_CASE("parallel_transform loses nothing when something throws") {
  test::for_random_inputs("throwing transform", 5,
                          [](fj::runtime& rt, dice& random) { throw_from_transform(rt, random); });
}

// These two tried with the halves of a loop forked the other way round: fail.
TEST_CASE("loops throw what plain loops throw") {
  test::for_random_inputs("throwing loops", 10000,
                          [](fj::runtime& rt, dice& random) { loop_with_bad_elements(rt, random); });
}

TEST_CASE("loops throw whichever call throws") {
  test::for_random_inputs("throwing calls", 100, [](fj::runtime& rt, dice& random) { loop_with_bad_call(rt, random); });
}
