// The longest paths of a profile, beside a graph that is asked each question by itself.
#include "runtime/profile/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace {

namespace profile = fj::detail::profile;
using profile::path;

// Only the addresses of sites count. They are even.
const long places[4] = {};
const profile::site* site(std::size_t i) { return reinterpret_cast<const profile::site*>(&places[i]); }
constexpr std::size_t sites = std::size(places);

/// A strand, thefts, or parts that follow each other or run beside each other.
struct graph {
  enum { strand, thefts, series, parallel } is;
  std::size_t of = 0;
  double length = 0;
  std::vector<graph> parts;
};

graph random_graph(std::mt19937& random, int depth, std::size_t most_sites) {
  const auto of = random() % most_sites;
  if (depth == 0 || random() % 8 == 0) {
    return {random() % 4 == 0 ? graph::thefts : graph::strand, of, static_cast<double>(random() % 1'000'000), {}};
  }
  graph made{random() % 2 == 0 ? graph::series : graph::parallel, of, 0, {}};
  for (auto n = 1 + random() % 3; n != 0; --n) made.parts.push_back(random_graph(random, depth - 1, most_sites));
  return made;
}

path path_of(const graph& from) {
  if (from.is == graph::strand) return profile::strand_of(site(from.of), from.length);
  if (from.is == graph::thefts) return profile::thefts_at(site(from.of), from.length);
  path whole = path();
  for (const graph& part : from.parts) {
    path other = path_of(part);
    from.is == graph::series ? append(whole, other) : take_longer(whole, other);
  }
  return whole;
}

/// The longest path if a strand or a theft at a site is so many times as long as it is.
template <class Factor>
double longest(const graph& from, const Factor& factor) {
  if (from.parts.empty()) return from.length * factor(from);
  double whole = 0;
  for (const graph& part : from.parts) {
    const double other = longest(part, factor);
    whole = from.is == graph::series ? whole + other : std::max(whole, other);
  }
  return whole;
}

double work(const graph& from) {
  if (from.parts.empty()) return from.is == graph::strand ? from.length : 0;
  double sum = 0;
  for (const graph& part : from.parts) sum += work(part);
  return sum;
}

/// What of the longest path without thefts is of a site.
double on_span(const graph& from, std::size_t of) {
  const auto without_thefts = [](const graph& one) { return one.is == graph::strand ? 1.0 : 0.0; };
  if (from.parts.empty()) return from.is == graph::strand && from.of == of ? from.length : 0;
  if (from.is == graph::parallel) {
    return on_span(
        *std::ranges::max_element(from.parts, {}, [&](const graph& one) { return longest(one, without_thefts); }), of);
  }
  double sum = 0;
  for (const graph& part : from.parts) sum += on_span(part, of);
  return sum;
}

void check(const graph& of) {
  path found = path_of(of);
  const auto is = [](double value) { return doctest::Approx(value).epsilon(1e-9); };
  CHECK(found.work() == is(work(of)));
  CHECK(found.span() == is(longest(of, [](const graph& one) { return one.is == graph::strand ? 1.0 : 0.0; })));
  const double burdened = longest(of, [](const graph&) { return 1.0; });
  CHECK(found.burdened() == is(burdened));
  const profile::shares& shares = listed(found);
  for (std::size_t i = 0; i != sites; ++i) {
    const auto at = std::ranges::find(shares, site(i), &profile::share::of);
    const profile::share share = at == shares.end() ? profile::share{site(i), 0, 0, 0} : *at;
    const double twice =
        longest(of, [&](const graph& one) { return one.is == graph::strand && one.of == i ? 0.5 : 1.0; });
    const double free =
        longest(of, [&](const graph& one) { return one.is == graph::thefts && one.of == i ? 0.0 : 1.0; });
    CHECK(burdened - share.saved_twice == is(twice));
    CHECK(burdened - share.saved_free == is(free));
    CHECK(share.span == is(on_span(of, i)));
  }
  profile::store().give(found.whose.all());
}

}  // namespace

// Tried with `min` in place of `max` in what take_longer saves, with the shares of the shorter path, and without the
// thefts in twice(): each fails.
TEST_CASE("profile: what a path tells of each site is what the graph tells if that site is changed") {
  std::mt19937 random(1);
  for (int i = 0; i != 2000; ++i) check(random_graph(random, 1 + i % 6, sites));
}

TEST_CASE("profile: a path of one site needs no list") {
  std::mt19937 random(2);
  for (int i = 0; i != 500; ++i) {
    const graph of = random_graph(random, 1 + i % 6, 1);
    CHECK(!path_of(of).whose.several());
    check(of);
  }
}

TEST_CASE("profile: of two branches the shorter one gains nothing by being twice as fast") {
  path longer = profile::strand_of(site(0), 10), shorter = profile::strand_of(site(1), 8);
  take_longer(longer, shorter);
  const profile::shares& shares = listed(longer);
  CHECK(longer.span() == 10);
  CHECK(shares[0].saved_twice == 2);  // then the other is the longest
  CHECK(shares[1].saved_twice == 0);
  profile::store().give(longer.whose.all());
}
