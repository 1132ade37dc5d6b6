// Work, span and parallelism of a kernel's DAG.
#pragma once

#include <cstdint>

#include "bench/simulate/kernel.hpp"

namespace simulate {

struct shape {
  picoseconds work = 0;  ///< T1: all serial work, no cost of forks
  picoseconds span = 0;  ///< T-infinity: the longest chain of work
  std::uint64_t forks = 0;
  std::uint64_t nodes = 0;  ///< calls
  std::uint64_t depth = 0;  ///< of nested calls, in the serial program
  std::uint64_t order = 0;  ///< a hash of the nodes in the serial program's order

  double parallelism() const noexcept { return span > 0 ? static_cast<double>(work) / static_cast<double>(span) : 1; }
};

/// Walks the whole DAG once, as the serial program would. `burden`: what a fork adds to the span, and not to the work:
/// a theft (He, Leiserson and Leiserson: "The Cilkview scalability analyzer", 2010).
shape analyse(const kernel& k, picoseconds burden = 0);

/// The forks on the chain that has most of them.
std::uint64_t forks_in_chain(const kernel& k);

/// Adds a node to a hash of an order.
inline std::uint64_t followed_by(std::uint64_t order, const node& next) noexcept {
  const std::uint64_t hash = (order ^ next.kind) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

}  // namespace simulate
