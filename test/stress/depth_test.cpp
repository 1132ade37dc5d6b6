// Deep recursion and long loops.
#include <doctest/doctest.h>

#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"

namespace {

template <class Policy>
long left_spine(long depth) {
  if (depth == 0) return 0;
  auto [a, b] = fj::fork_join<Policy>([=] { return left_spine<Policy>(depth - 1); }, [] { return 1L; });
  return a + b;
}

template <class Policy>
long right_spine(long depth) {
  if (depth == 0) return 0;
  auto [a, b] = fj::fork_join<Policy>([] { return 1L; }, [=] { return right_spine<Policy>(depth - 1); });
  return a + b;
}

template <class Policy>
long flat(long forks) {
  long sum = 0;
  for (long i = 0; i < forks; ++i) {
    auto [a, b] = fj::fork_join<Policy>([] { return 1L; }, [i] { return i & 1; });
    sum += a + b;
  }
  return sum;
}

fj::options deep(unsigned p, test::stealing how) {
  fj::options chosen = test::with(p, how);
  chosen.stack_size = std::size_t{1} << 30;
  return chosen;
}

}  // namespace

TEST_CASE("depth: a million forks deep, with a stack that is large enough") {
  const long depth = test::sanitized || RUNNING_ON_VALGRIND ? 20'000 : 1'000'000;
  test::for_each_procs([=](unsigned p) {
    CAPTURE(p);
    const test::watchdog dog("a million forks deep", p);
    fj::runtime rt(deep(p, test::stealing::by_need));
    CHECK(rt.run([=] { return left_spine<fj::continuations>(depth); }) == depth);
    CHECK(rt.run([=] { return left_spine<fj::tasks>(depth); }) == depth);
    CHECK(rt.run([=] { return right_spine<fj::continuations>(depth); }) == depth);
    CHECK(rt.run([=] { return right_spine<fj::tasks>(depth); }) == depth);
  });
}

TEST_CASE("depth: deep with all records public, and with every fork stolen") {
  const long depth = test::divided(200'000L);
  {
    const test::fences membarrier(test::stealing::all_public);
    test::for_each_procs([=](unsigned p) {
      CAPTURE(p);
      const test::watchdog dog("deep, all public", p);
      fj::runtime rt(deep(p, test::stealing::all_public));
      CHECK(rt.run([=] { return left_spine<fj::continuations>(depth); }) == depth);
      CHECK(rt.run([=] { return left_spine<fj::tasks>(depth); }) == depth);
    });
  }
  // Each level of a right spine suspends with a stack of its own.
  const long levels = test::divided(5'000L);
  test::for_each_procs([=](unsigned p) {
    CAPTURE(p);
    const test::watchdog dog("deep, every fork stolen", p);
    fj::runtime rt(test::with(p, test::stealing::every_fork));
    CHECK(rt.run([=] { return left_spine<fj::continuations>(levels); }) == levels);
    CHECK(rt.run([=] { return right_spine<fj::continuations>(levels); }) == levels);
    CHECK(rt.run([=] { return left_spine<fj::tasks>(levels); }) == levels);
    CHECK(rt.run([=] { return right_spine<fj::tasks>(levels); }) == levels);
  });
}

TEST_CASE("depth: a flat loop of a million forks") {
  test::for_each_runtime("a flat loop", [](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    const long forks = test::divided(how == test::stealing::by_need ? 1'000'000L : 20'000L);
    CHECK(rt.run([=] { return flat<fj::continuations>(forks); }) == forks + forks / 2);
    CHECK(rt.run([=] { return flat<fj::tasks>(forks); }) == forks + forks / 2);
  });
}
