// The serial program, written by hand.
#include <cmath>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::integrate {

namespace {

double integrate(double x1, double y1, double x2, double y2, double area) {
  const double half = (x2 - x1) / 2;
  const double x0 = x1 + half;
  const double y0 = function(x0);
  const double left = (y1 + y0) / 2 * half;
  const double right = (y0 + y2) / 2 * half;
  if (std::abs(left + right - area) < error) return left + right;
  return integrate(x1, y1, x0, y0, left) + integrate(x0, y0, x2, y2, right);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  result_ = integrate(0, function(0), end_, function(end_), 0);
}

}  // namespace bench::integrate

BENCH_WAY(serial)
