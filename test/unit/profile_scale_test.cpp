// How long strands take by the windows of a profile. Tried with the mean of all windows: the disturbed ones fail; with
// the oldest windows kept: the last case fails.
#include "runtime/profile/scale.hpp"

#include <doctest/doctest.h>

namespace {

using fj::detail::profile::scale;

TEST_CASE("until there are enough windows the readings count") {
  scale one(0, 2);
  for (int i = 0; i != 7; ++i) one.add(50, 100);
  CHECK_FALSE(one.is_known());
  CHECK(one.factor() == 1);
  one.add(50, 100);
  CHECK(one.is_known());
  CHECK(one.factor() == doctest::Approx(0.5));
}

TEST_CASE("windows that were disturbed do not count, up to a quarter of all") {
  scale one(0, 2);
  for (int i = 0; i != 1000; ++i) one.add(i % 5 == 0 ? 100'000 : 78 + i % 5, 100);  // 79 to 82
  CHECK(one.factor() == doctest::Approx(0.81).epsilon(0.015));
}

TEST_CASE("the factor keeps to its bounds") {
  scale low(0.5, 1), high(0.5, 1);
  for (int i = 0; i != 20; ++i) {
    low.add(-10, 100);
    high.add(300, 100);
  }
  CHECK(low.factor() == 0.5);
  CHECK(high.factor() == 1);
}

TEST_CASE("the newest windows count") {
  scale one(0, 2);
  for (int i = 0; i != 10'000; ++i) one.add(i < 5000 ? 50 : 90, 100);
  CHECK(one.factor() == doctest::Approx(0.9));
}

}  // namespace
