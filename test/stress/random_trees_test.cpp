// Random fork trees with random work and exceptions: ten million forks, checked against the serial result, for every
// number of P, both policies and a mix of them; then fewer with every fork stolen, and without membarrier.
#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"

namespace {

struct failure {
  std::uint64_t value;
};

// How branches are run.
struct serially {
  template <class F, class G>
  static std::uint64_t run(std::uint64_t, const F& f, const G& g) {
    const std::uint64_t a = f();
    return a * 31 + g();
  }
  template <class F, class G, class H>
  static std::uint64_t run(std::uint64_t, const F& f, const G& g, const H& h) {
    const std::uint64_t a = f();
    const std::uint64_t b = g();
    return (a * 31 + b) * 31 + h();
  }
};

template <class Policy>
struct in_parallel {
  template <class F, class G>
  static std::uint64_t run(std::uint64_t, const F& f, const G& g) {
    auto [a, b] = fj::fork_join<Policy>(f, g);
    return a * 31 + b;
  }
  template <class F, class G, class H>
  static std::uint64_t run(std::uint64_t, const F& f, const G& g, const H& h) {
    auto [a, b, c] = fj::fork_join<Policy>(f, g, h);
    return (a * 31 + b) * 31 + c;
  }
};

struct mixed {
  template <class... F>
  static std::uint64_t run(std::uint64_t seed, const F&... f) {
    return seed & 1 ? in_parallel<fj::continuations>::run(seed, f...) : in_parallel<fj::tasks>::run(seed, f...);
  }
};

std::uint64_t work(std::uint64_t seed, unsigned steps) {
  test::dice dice(seed);
  while (steps-- > 0) seed ^= dice.next();
  return seed;
}

// A tree of `forks` forks in all. Some leaves throw, some inner nodes catch. The result depends on which exception came
// through.
template <class How>
std::uint64_t grow(std::uint64_t seed, unsigned forks) {
  test::dice dice(seed);
  if (forks == 0) {
    if (dice.once_in(100)) throw failure{seed};
    return work(seed, dice.once_in(20) ? dice.below(300) : dice.below(10));
  }
  const bool catches = dice.once_in(2);
  const bool three = forks > 1 && dice.once_in(4);
  const unsigned rest = forks - (three ? 2 : 1);
  const std::uint64_t seeds[3] = {dice.next(), dice.next(), dice.next()};
  // Mostly even, at times one-sided to either side.
  const unsigned kind = dice.below(8);
  const unsigned left = kind == 0 ? rest : kind == 1 ? 0 : rest / 2;
  const unsigned middle = three ? (rest - left) / 2 : 0;
  const unsigned right = rest - left - middle;
  const auto f = [&] { return grow<How>(seeds[0], left); };
  const auto g = [&] { return grow<How>(seeds[1], three ? middle : right); };
  const auto h = [&] { return grow<How>(seeds[2], right); };
  try {
    const std::uint64_t sum = three ? How::run(seed, f, g, h) : How::run(seed, f, g);
    if (dice.once_in(500)) throw failure{seed};
    return sum;
  } catch (const failure& caught) {
    if (!catches) throw;
    return work(caught.value, 5) * 7 + seed;
  }
}

template <class How>
std::uint64_t grow_all(std::uint64_t seed, unsigned forks) {
  try {
    return grow<How>(seed, forks);
  } catch (const failure& caught) {
    return caught.value + 1;
  }
}

// Runs trees of different sizes, with `total` forks together. Returns the number of wrong results.
template <class How>
unsigned check_trees(fj::runtime& rt, std::uint64_t seed, unsigned total) {
  test::dice dice(seed);
  unsigned wrong = 0;
  while (total > 0) {
    static constexpr unsigned sizes[] = {1, 2, 10, 100, 1'000, 10'000, 100'000};
    const unsigned forks = std::min(total, sizes[dice.below(7)]);
    const std::uint64_t tree = dice.next();
    wrong += rt.run([=] { return grow_all<How>(tree, forks); }) != grow_all<serially>(tree, forks);
    total -= forks;
  }
  return wrong;
}

void check_runtimes(const char* what, test::stealing how, unsigned total) {
  const test::fences fences(how);
  test::for_each_procs([=](unsigned p) {
    CAPTURE(p);
    const test::watchdog dog(what, p, 120);
    fj::runtime rt(test::with(p, how));
    const unsigned each = total / std::size(test::procs_to_try) / 3 + 1;
    CHECK(check_trees<in_parallel<fj::continuations>>(rt, p, each) == 0);
    CHECK(check_trees<in_parallel<fj::tasks>>(rt, p + 1000, each) == 0);
    CHECK(check_trees<mixed>(rt, p + 2000, each) == 0);
  });
}

}  // namespace

TEST_CASE("random trees: ten million forks") {
  check_runtimes("random trees", test::stealing::by_need, test::divided(10'000'000u));
}

TEST_CASE("random trees: every fork stolen") {
  check_runtimes("random trees, every fork stolen", test::stealing::every_fork, test::divided(300'000u));
}

TEST_CASE("random trees: without membarrier, all records public") {
  check_runtimes("random trees, all public", test::stealing::all_public, test::divided(2'000'000u));
}
