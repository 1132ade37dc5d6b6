// The Mandelbrot set: a parallel loop in which a turn costs from one iteration to thousands. Computed in fixed point,
// so that every compiler and machine counts the same iterations.
#pragma once

#include <cstdint>
#include <numeric>

#include "bench/harness/work.hpp"

namespace bench::mandelbrot {

using fixed = std::int64_t;  // 28 bits after the point
inline constexpr int fraction_bits = 28;
inline constexpr fixed one = fixed{1} << fraction_bits;

inline constexpr long grain = 1;  // rows

/// The part of the plane from -2 to 1 and from -1.5 to 1.5, in size x size points.
struct picture {
  std::int32_t size;
  std::int32_t limit;  // of iterations
};

/// Iterations until |z| > 2, at most limit.
inline std::int32_t iterations(fixed cx, fixed cy, std::int32_t limit) {
  fixed x = 0;
  fixed y = 0;
  for (std::int32_t n = 0; n < limit; ++n) {
    const fixed xx = (x * x) >> fraction_bits;
    const fixed yy = (y * y) >> fraction_bits;
    if (xx + yy > 4 * one) return n;
    y = ((x * y) >> (fraction_bits - 1)) + cy;
    x = xx - yy + cx;
  }
  return limit;
}

/// The counts of a row's points. Not inlined: compilers would make code of different speed of this tight loop in each
/// way.
[[gnu::noinline]] inline void draw_row(const picture& p, long row, std::int32_t* out) {
  const fixed cy = 3 * one * row / p.size - 3 * one / 2;
  for (std::int32_t column = 0; column < p.size; ++column) {
    out[column] = iterations(3 * one * column / p.size - 2 * one, cy, p.limit);
  }
}

/// size * size counts.
template <class Way>
void draw(const picture& p, std::int32_t* out) {
  Way::loop(0, p.size, grain, [&](long first, long last) {
    for (long row = first; row < last; ++row) draw_row(p, row, out + row * p.size);
    if constexpr (counts_work<Way>) {
      Way::work(unit::mandelbrot_iteration,
                std::accumulate(out + first * p.size, out + last * p.size, std::int64_t{0}));
    }
  });
}

}  // namespace bench::mandelbrot
