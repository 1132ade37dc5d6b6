// Trees of forks drawn from a seed: so that a comparison of policies does not depend on which trees a person chose.
#pragma once

#include <cstdint>

#include "bench/simulate/recorder.hpp"

namespace simulate {

/// What is drawn once for a tree.
struct tree_traits {
  long leaves = 0;            ///< 64 to 8,192
  double leaf_ns = 0;         ///< mean length of a leaf: 0.1 us to 1 ms, and all leaves 64 ms at most
  unsigned leaf_lengths = 0;  ///< 0: all alike, 1: uniform up to twice the mean, 2: heavy-tailed, up to 50 times
  double tail = 0;          ///< of the children's sizes: Pareto's exponent, 0.5 (one child has most) to 8 (about equal)
  unsigned order = 0;       ///< of the children: 0: as drawn, 1: the largest first, 2: last
  double chained = 0;       ///< how often a node is a leaf and the rest: never, in half of the nodes, in 19 of 20
  bool leaf_first = false;  ///< in those nodes
  unsigned most_children = 2;  ///< of a node: 2, 4, 8 or 64
  bool one_join = false;       ///< more than two children have one join, else they are nested forks of two
  double before = 0, between = 0, after = 0;  ///< how often a node works there
  unsigned after_is = 0;                      ///< after a join: 0: some leaves' work, 1: a 32nd of the leaves below
};

tree_traits draw_traits(std::uint64_t seed);

/// The same tree for the same seed, on every machine.
recorded draw_tree(std::uint64_t seed);

}  // namespace simulate
