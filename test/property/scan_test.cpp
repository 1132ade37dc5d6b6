// Scans against std's, and with operations that throw at any call.
#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

#include "forkjoin/scan.hpp"
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

void scan_once(fj::runtime& rt, dice& random) {
  const std::vector<int> keys = test::random_keys(random);
  const fj::loop_options options = test::random_grain(random);
  std::vector<affine> maps, expected(keys.size());
  for (const int key : keys) maps.push_back({2u * static_cast<unsigned>(key) + 1, static_cast<unsigned>(key)});
  std::deque<affine> out(keys.size());

  std::inclusive_scan(maps.begin(), maps.end(), expected.begin(), then);
  rt.run([&] { fj::parallel_scan(maps, out.begin(), then, options); });
  CHECK(std::ranges::equal(out, expected));

  std::inclusive_scan(maps.begin(), maps.end(), expected.begin(), then, affine{5, 6});
  rt.run([&] { fj::parallel_scan(maps.begin(), maps.end(), test::plain_begin(out), then, affine{5, 6}, options); });
  CHECK(std::ranges::equal(out, expected));

  std::exclusive_scan(maps.rbegin(), maps.rend(), expected.rbegin(), affine{5, 6}, then);
  rt.run([&] { fj::parallel_exclusive_scan(maps.rbegin(), maps.rend(), maps.rbegin(), affine{5, 6}, then, options); });
  CHECK(maps == expected);

  const std::vector<affine> in = maps;
  std::inclusive_scan(in.begin(), in.end(), expected.begin(), then);
  const auto scan = [&](std::size_t begin, std::size_t end, affine before, bool is_final) {
    for (; begin != end; ++begin) {
      before = then(before, in[begin]);
      if (is_final) maps[begin] = before;
    }
    return before;
  };
  const affine identity{1, 0};
  const affine all =
      rt.run([&] { return fj::parallel_scan(std::size_t(0), in.size(), identity, scan, then, options); });
  CHECK(maps == expected);
  CHECK(all == (in.empty() ? identity : expected.back()));

  const std::vector<bool> bits(keys.begin(), keys.end());
  std::vector<int> counts(keys.size()), ranks(keys.size());
  std::exclusive_scan(bits.begin(), bits.end(), counts.begin(), 0);
  rt.run([&] { fj::parallel_exclusive_scan(bits, ranks.begin(), 0, std::plus<>(), options); });
  CHECK(ranks == counts);
}

void throw_from_scan(fj::runtime& rt, dice& random) {
  using T = test::throwing;
  std::vector<int> keys(10 + random.below(20));
  for (int& key : keys) key = static_cast<int>(random.below(40));
  const auto add = [](const T& a, const T& b) {
    T::ops().spend();
    return T(a.key() + b.key(), 0);
  };
  std::vector<int> expected(keys.size());
  std::inclusive_scan(keys.begin(), keys.end(), expected.begin());
  test::for_every_call([&](long k) {
    auto elements = test::numbered<std::vector<T>>(keys);
    bool threw = false;
    T::ops().set(k);
    try {
      rt.run([&] { fj::parallel_scan(elements, elements.begin(), add, {.grain = 3}); });
    } catch (const test::burnt&) {
      threw = true;
    }
    T::ops().set(0);
    CHECK(T::living() == static_cast<long>(keys.size()));
    CHECK(T::misused() == 0);
    if (!threw) CHECK(std::ranges::equal(elements, expected, {}, &T::key));
    return !threw;
  });
  CHECK(T::living() == 0);
}

}  // namespace

TEST_CASE("scans are std's") {
  test::for_random_inputs("scans", 10000, [](fj::runtime& rt, dice& random) { scan_once(rt, random); });
}

TEST_CASE("scans lose nothing when something throws") {
  test::for_random_inputs("throwing scans", 5, [](fj::runtime& rt, dice& random) { throw_from_scan(rt, random); });
}
