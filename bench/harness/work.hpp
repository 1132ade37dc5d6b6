// The units in which a kernel counts its serial work. A way that wants the counts has a function `work`. For all other
// ways, the measured ones included, nothing is compiled:
//
//   if constexpr (counts_work<Way>) Way::work(unit::heat_cell, rows * columns);  // the strand now does so many
#pragma once

#include <cstdint>

namespace bench {

/// bench/simulate/units.cpp describes each unit, and estimates how long it takes.
enum class unit : std::uint8_t {
  fib_call,
  integrate_call,
  skynet_call,
  treesum_node,
  nqueens_place,
  knapsack_node,
  uts_sha1,
  matmul_flop,
  matrix_add,
  sort_compare,
  sort_partition,
  sort_merge,
  heat_cell,
  fft_butterfly,
  mandelbrot_iteration,
  alignment_cell,
  floorplan_place,
  health_person,
  tree_leaf
};

template <class Way>
concept counts_work = requires { Way::work(unit(), 1.0); };

}  // namespace bench
