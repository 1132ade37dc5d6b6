// The integral of x^3 + x from 0 to n by halving the interval until another halving changes the area by less than a
// given error: a fork for every halving, down to two evaluations of the function.
#pragma once

#include <cmath>
#include <stdexcept>

#include "bench/harness/kernel.hpp"
#include "bench/harness/work.hpp"

namespace bench::integrate {

constexpr long small[] = {30};
constexpr long usual[] = {1'000};
constexpr long large[] = {10'000};

constexpr double error = 1e-9;  // of one interval

constexpr double function(double x) { return (x * x + 1.0) * x; }

// In units of a 2^20th of the right area: the rounding errors of all intervals together stay far below that.
constexpr std::uint64_t expected(long n) {
  if (n < 1 || n > 100'000) throw std::invalid_argument("integrate: the size is from 1 to 100,000");
  return 1 << 20;
}

inline constexpr kernel description{
    .name = "integrate",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
};

template <class Way>
double integrate(double x1, double y1, double x2, double y2, double area) {
  if constexpr (counts_work<Way>) Way::work(unit::integrate_call, 1);
  const double half = (x2 - x1) / 2;
  const double x0 = x1 + half;
  const double y0 = function(x0);
  const double left = (y1 + y0) / 2 * half;
  const double right = (y0 + y2) / 2 * half;
  if (std::abs(left + right - area) < error) return left + right;
  auto [a, b] = Way::fork([=] { return integrate<Way>(x1, y1, x0, y0, left); },
                          [=] { return integrate<Way>(x0, y0, x2, y2, right); });
  return a + b;
}

template <class Way>
class problem {
 public:
  explicit problem(long size) : end_(static_cast<double>(size)) {}
  void run() { result_ = integrate<Way>(0, function(0), end_, function(end_), 0); }

  std::uint64_t result() const {
    const double right = end_ * end_ * (end_ * end_ / 4 + 0.5);
    return static_cast<std::uint64_t>(std::llround(result_ / right * static_cast<double>(1 << 20)));
  }

 private:
  double end_;
  double result_ = 0;
};

}  // namespace bench::integrate
