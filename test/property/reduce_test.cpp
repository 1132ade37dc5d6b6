// parallel_reduce against std::accumulate, and with operations that throw at any call.
#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

#include "forkjoin/reduce.hpp"
#include "test/property/iterators.hpp"
#include "test/property/values.hpp"

namespace {

using test::dice;

// The affine maps x -> factor x + shift under composition: associative, not commutative.
struct affine {
  unsigned factor, shift;
  bool operator==(const affine&) const = default;
};

affine then(affine f, affine g) { return {g.factor * f.factor, g.factor * f.shift + g.shift}; }

void reduce_once(fj::runtime& rt, dice& random) {
  const std::vector<int> keys = test::random_keys(random);
  const fj::loop_options options = test::random_grain(random);
  const auto map_of = [](int key) { return affine{2u * static_cast<unsigned>(key) + 1, static_cast<unsigned>(key)}; };
  affine expected{3, 4};
  for (const int key : keys) expected = then(expected, map_of(key));

  const std::deque<int> spread(keys.begin(), keys.end());
  const std::vector<bool> bits(keys.begin(), keys.end());
  const std::vector<double> doubles(keys.begin(), keys.end());
  rt.run([&] {
    CHECK(fj::parallel_reduce(keys, affine{3, 4}, then, map_of, options) == expected);
    CHECK(fj::parallel_reduce(test::plain_begin(spread), test::plain_end(spread), affine{3, 4}, then, map_of,
                              options) == expected);
    CHECK(fj::parallel_reduce(bits, 0, std::plus<>(), options) == std::ranges::count(bits, true));
    CHECK(fj::parallel_reduce(doubles.rbegin(), doubles.rend(), 0.0, std::plus<>(), options) ==
          std::accumulate(keys.begin(), keys.end(), 0));  // exact, as the numbers are small
    CHECK(fj::parallel_transform_reduce(keys.begin(), keys.end(), spread.begin(), 1L, std::plus<>(),
                                        std::multiplies<>(),
                                        options) == std::inner_product(keys.begin(), keys.end(), keys.begin(), 1L));
    const auto fold = [&](auto begin, auto end, affine all) {
      for (; begin != end; ++begin) all = then(all, map_of(*begin));
      return all;
    };
    const affine identity{1, 0};
    const affine all = fj::parallel_reduce(keys, identity, fold, then, options);
    CHECK(then({3, 4}, all) == expected);
    CHECK(fj::parallel_reduce(test::plain_begin(spread), test::plain_end(spread), identity, fold, then, options) ==
          all);
    const auto from = [&](int k) { return keys.begin() + k; };
    const auto by_indices = [&](int begin, int end, affine so_far) { return fold(from(begin), from(end), so_far); };
    CHECK(fj::parallel_reduce(0, static_cast<int>(keys.size()), identity, by_indices, then, options) == all);
  });
}

// Accumulators that throw when they are made, copied or moved, and an operation that throws: all are destroyed.
template <class T>
void throw_from_reduce(fj::runtime& rt, dice& random) {
  std::vector<int> keys(20 + random.below(20));
  for (int& key : keys) key = static_cast<int>(random.below(40));
  const auto make = [](int key) {
    T::ops().spend();
    return T(key, 0);
  };
  const auto add = [](T a, T b) {
    T::ops().spend();
    return T(a.key() + b.key(), 0);
  };
  test::for_every_call([&](long k) {
    bool threw = false;
    int sum = 0;
    T::ops().set(k);
    try {
      sum = rt.run([&] { return fj::parallel_reduce(keys, T(1, 0), add, make, {.grain = 3}).key(); });
    } catch (const test::burnt&) {
      threw = true;
    }
    T::ops().set(0);
    CHECK(T::living() == 0);
    CHECK(T::misused() == 0);
    if (!threw) CHECK(sum == std::accumulate(keys.begin(), keys.end(), 1));
    return !threw;
  });
}

// The same by blocks, where copies of the identity may throw, too.
void throw_from_blocks(fj::runtime& rt, dice& random) {
  using T = test::throwing;
  std::vector<int> keys(20 + random.below(20));
  for (int& key : keys) key = static_cast<int>(random.below(40));
  const auto fold = [](auto begin, auto end, T sum) {
    for (; begin != end; ++begin) {
      T::ops().spend();
      sum = T(sum.key() + *begin, 0);
    }
    return sum;
  };
  const auto add = [](const T& a, const T& b) {
    T::ops().spend();
    return T(a.key() + b.key(), 0);
  };
  test::for_every_call([&](long k) {
    bool threw = false;
    int sum = 0;
    T::ops().set(k);
    try {
      sum = rt.run([&] { return fj::parallel_reduce(keys, T(0, 0), fold, add, {.grain = 3}).key(); });
    } catch (const test::burnt&) {
      threw = true;
    }
    T::ops().set(0);
    CHECK(T::living() == 0);
    CHECK(T::misused() == 0);
    if (!threw) CHECK(sum == std::accumulate(keys.begin(), keys.end(), 0));
    return !threw;
  });
}

}  // namespace

TEST_CASE("parallel_reduce is std::accumulate") {
  test::for_random_inputs("reduce", 10000, [](fj::runtime& rt, dice& random) { reduce_once(rt, random); });
}

TEST_CASE("parallel_reduce loses nothing when something throws") {
  test::for_random_inputs("throwing reduce", 5, [](fj::runtime& rt, dice& random) {
    throw_from_reduce<test::throwing>(rt, random);
    throw_from_reduce<test::move_only>(rt, random);
    throw_from_blocks(rt, random);
  });
}
