// Sums of products, by a compiler that may compute a product and a sum in one instruction, which rounds once. g++ does
// so for processors that have it (on x86-64 built with -mfma), and only where it sees the product beside the sum. Each
// case was tried without the rounding of elements (forkjoin/abi/os/compiler.hpp), by g++: fails.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <ranges>
#include <set>
#include <vector>

#include "forkjoin/fork_reduce.hpp"
#include "forkjoin/reduce.hpp"
#include "forkjoin/scan.hpp"
#include "test/support.hpp"

namespace {

bool runs_here() {
#if defined(__FMA__)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

struct vectors {
  explicit vectors(std::size_t n) : a(n), b(n) {
    for (std::size_t i = 0; i != n; ++i) {
      a[i] = std::sin(static_cast<double>(i) * 1.7) + 1e-3;
      b[i] = std::cos(static_cast<double>(i) * 3.1);
    }
  }

  /// The products, computed when they are read.
  auto products() const {
    return std::views::iota(std::size_t{0}, a.size()) |
           std::views::transform([this](std::size_t i) { return a[i] * b[i]; });
  }

  std::vector<double> a, b;
};

/// How many results there are of compute(vectors), of n elements.
template <class Compute>
std::size_t results(std::size_t n, Compute compute) {
  const vectors v(n);
  std::set<std::vector<double>> all;
  test::for_each_runtime("products", [&](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([&] {
      for (unsigned i = 0; i != 50; ++i) all.insert(compute(v));
    });
  });
  return all.size();
}

}  // namespace

TEST_CASE("inner products have the same bits on any runtime, brief or not") {
  if (!runs_here()) return;
  for (const std::size_t n : {2u, 5u, 20u, 31u, 32u, 100u, 1000u, 3000u}) {
    CAPTURE(n);
    CHECK(results(n, [](const vectors& v) {
            return std::vector{fj::parallel_transform_reduce(v.a, v.b.begin(), 0.1, std::plus<>(), std::multiplies<>()),
                               fj::parallel_reduce(v.products(), 0.1, [](double x, double y) { return x + y; }),
                               fj::parallel_reduce(
                                   std::views::iota(std::size_t{0}, v.a.size()), 0.0,
                                   [&](double sum, std::size_t i) { return sum + v.a[i] * v.b[i]; }, std::plus<>())};
          }) == 1);
  }
}

TEST_CASE("scans of products have the same bits on any runtime") {
  if (!runs_here()) return;
  for (const std::size_t grain : {0u, 5u, 10u, 100u}) {
    CAPTURE(grain);
    CHECK(results(1000, [&](const vectors& v) {
            std::vector<double> out(v.a.size());
            fj::parallel_scan(v.products(), out.begin(), std::plus<>(), {.grain = grain});
            return out;
          }) == 1);
  }
}

TEST_CASE("fork_reduce adds up products to the same bits on any runtime") {
  if (!runs_here()) return;
  CHECK(results(100, [](const vectors& v) {
          const auto add = [](double x, double y) { return x + y; };
          const auto product = [&](std::size_t i) { return v.a[i] * v.b[i]; };
          return std::vector{fj::fork_reduce(std::size_t{0}, v.a.size(), 0.1, add, product),
                             fj::fork_reduce(std::size_t{0}, v.a.size(), 0.1, add, product, {.grain = 7})};
        }) == 1);
}
