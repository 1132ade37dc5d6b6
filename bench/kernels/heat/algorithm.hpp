// Heat in a plane: explicit steps of the five-point stencil between two grids, each step a parallel loop over the rows.
#pragma once

#include <utility>

#include "bench/harness/work.hpp"

namespace bench::heat {

// The part of the difference that flows between neighbours in a step; stable below 1/4.
inline constexpr double rate = 0.2;
inline constexpr long grain = 8;  // rows

/// A row of so many columns; the outermost stay as they are.
inline void step_row(const double* here, double* __restrict out, long columns) {
  const double* const above = here - columns;
  const double* const below = here + columns;
  for (long j = 1; j + 1 < columns; ++j) {
    out[j] = here[j] + rate * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
  }
}

/// Returns the one of the two grids that holds the values after so many steps. Both begin with the same border.
template <class Way>
const double* simulate(double* from, double* to, long rows, long columns, long steps) {
  for (; steps > 0; --steps) {
    Way::loop(1, rows - 1, grain, [=](long first, long last) {
      for (long i = first; i < last; ++i) step_row(from + i * columns, to + i * columns, columns);
      if constexpr (counts_work<Way>) Way::work(unit::heat_cell, (last - first) * columns);
    });
    std::swap(from, to);
  }
  return from;
}

}  // namespace bench::heat
