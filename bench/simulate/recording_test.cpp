// The recording way against DAGs written by hand, and against what is known of the kernels.
#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/simulate/analysis.hpp"
#include "bench/simulate/kernel.hpp"
#include "bench/simulate/recorder.hpp"
#include "bench/simulate/recording.hpp"
#include "bench/simulate/written.hpp"

namespace {

using namespace simulate;

constexpr bench::unit one = bench::unit::skynet_call;  // 1 ns

void work(double nanoseconds) { recording::work(one, nanoseconds); }

// Compares what the calls do: each kernel numbers its nodes in its own way.
void compare(const kernel& a, node at_a, const kernel& b, node at_b) {
  step in_a, in_b;
  for (unsigned phase = 0;; ++phase) {
    a.at(at_a, phase, in_a);
    b.at(at_b, phase, in_b);
    REQUIRE(in_a.follows == in_b.follows);
    CHECK(in_a.work == in_b.work);
    if (in_a.follows == then::end) return;
    CHECK(in_a.parts == in_b.parts);
    compare(a, in_a.left, b, in_b.left);
    compare(a, in_a.right, b, in_b.right);
  }
}

void compare(const kernel& a, const kernel& b) { compare(a, a.root(), b, b.root()); }

}  // namespace

// If calls are compared without the work before their end (tried), the leaf of 6 ns is recorded as the one of 5.
TEST_CASE("a recorded program has the forks and the work of its code") {
  const recorded found = recording::run(units(), [] {
    work(1);
    work(2);
    recording::fork([] { work(5); }, [] { recording::fork([] { work(5); }, [] { work(6); }); });
    work(7);
    recording::fork([] { work(5); }, [] {}, [] { work(8); });
  });
  // A fork of three is one of the first and of a call that forks the others.
  const written expected({{{3, then::fork, 1, 2}, {7, then::fork, 1, 4}, {0}},
                          {{5}},
                          {{0, then::fork, 1, 3}, {0}},
                          {{6}},
                          {{0, then::fork, 5, 6}, {0}},
                          {{0}},
                          {{8}}});
  compare(found, expected);
  // The leaf of 5 ns is kept once, though three calls are it.
  CHECK(found.size() == 3 + 1 + 2 + 1 + 2 + 1 + 1);
}

TEST_CASE("results of recorded forks come back") {
  long sum = 0;
  recording::run(units(), [&] {
    auto [a, b] = recording::fork([] { return 3; }, [] { return 4L; });
    sum = 10 * a + b;
  });
  CHECK(sum == 34);
}

// Blocks of 8 from 3: [3, 11), [11, 19), [19, 25).
TEST_CASE("a recorded loop is halved down to blocks of its grain") {
  std::vector<std::pair<long, long>> seen;
  const recorded found = recording::run(units(), [&] {
    recording::loop(3, 25, 8, [&](long first, long last) {
      seen.emplace_back(first, last);
      work(static_cast<double>(last - first));
    });
    recording::loop(5, 5, 8, [](long, long) { FAIL("there is nothing in this loop"); });
  });
  CHECK(seen == std::vector<std::pair<long, long>>{{3, 11}, {11, 19}, {19, 25}});
  compare(
      found,
      written({{{0, then::fork, 1, 2, {3, 0, 1, 3}}, {0}}, {{8}}, {{0, then::fork, 1, 3, {3, 1, 2, 3}}, {0}}, {{6}}}));

  for (const long n : {1L, 2L, 3L, 7L, 64L, 100L}) {
    CAPTURE(n);
    const recorded loop = recording::run(units(), [n] { recording::loop(0, n, 1, [](long, long) {}); });
    CHECK(analyse(loop).forks == static_cast<std::uint64_t>(n - 1));
  }
}

// Without sharing (tried) fib(20) has 32,836 steps.
TEST_CASE("calls that do the same are kept once") {
  const auto fib = make_kernel("fib", 20, units());
  CHECK(analyse(*fib).nodes == 21'891);
  // Two steps a number above 1; fib(0) and fib(1) are the same leaf.
  CHECK(dynamic_cast<const recorded&>(*fib).size() == 2 * 19 + 1);
}

TEST_CASE("what cannot be recorded is refused") {
  const auto work_too_long = [] {
    for (int i = 0; i < 1000; ++i) work(1e9);
  };
  CHECK_THROWS_WITH_AS(recording::run(units(), work_too_long), doctest::Contains("record a smaller problem"),
                       std::length_error);
  CHECK_THROWS_WITH_AS(make_kernel("skynet", 50'000, units()), doctest::Contains("power of ten"),
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_kernel("matmul", 48, units()), doctest::Contains("power of two"), std::invalid_argument);
  // The next one is not disturbed.
  CHECK(analyse(*make_kernel("fib", 10, units())).forks == 88);
}

TEST_CASE("kernels are what they claim to be") {
  CHECK(analyse(*make_kernel("fib", 20, units())).forks == 10'945);
  CHECK(analyse(*make_kernel("treesum", 12'345, units())).forks == 12'345);
  CHECK(analyse(*make_kernel("mandelbrot", 64, units())).forks == 63);
  // Every queen that is ever placed on a board of 8 is a fork.
  CHECK(analyse(*make_kernel("nqueens", 8, units())).forks == 2'056);
  // Children are forked one after the other: the last is called, so a node of ten has nine forks.
  CHECK(analyse(*make_kernel("skynet", 1000, units())).forks == 999);
  const auto multiply = make_kernel("matmul", 256, units());
  CHECK(analyse(*multiply).work == 16 * 16 * 16 * ps(units().nanoseconds(bench::unit::matmul_flop) * 16 * 16 * 16));
}

TEST_CASE("unbalanced tree search has the trees of the benchmark") {
  // Each node is a SHA-1; each leaf but one ends a fork.
  const shape t1 = analyse(*make_kernel("uts", 0, units()));
  CHECK(t1.work == 4'130'071 * ps(units().nanoseconds(bench::unit::uts_sha1)));
  CHECK(t1.forks + 1 == 3'305'118);
  const shape t3 = analyse(*make_kernel("uts_t3", 0, units()));
  CHECK(t3.work == 4'112'897 * ps(units().nanoseconds(bench::unit::uts_sha1)));
  CHECK(t3.forks + 1 == 3'599'034);
}
