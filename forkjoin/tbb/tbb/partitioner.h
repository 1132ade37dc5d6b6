// How a range is divided. oneTBB's names over the library's own rules: auto_partitioner is its adaptive loops,
// simple_partitioner divides as far as the range does, static_partitioner makes a part for each P, affinity_partitioner
// several. The latter two give a thread the same parts of a blocked_range again, and of a loop over indices.
#pragma once

#include "detail/runtime.h"
#include "task_arena.h"

namespace tbb {

class split {};

/// Divides a range in proportion. Ranges here are halved alone.
class proportional_split {
 public:
  proportional_split(std::size_t left = 1, std::size_t right = 1) noexcept : left_(left), right_(right) {}
  std::size_t left() const noexcept { return left_; }
  std::size_t right() const noexcept { return right_; }
  explicit operator split() const noexcept { return {}; }

 private:
  std::size_t left_, right_;
};

class simple_partitioner {};
class auto_partitioner {};
class static_partitioner {};
class affinity_partitioner {
 public:
  affinity_partitioner() = default;
  affinity_partitioner(const affinity_partitioner&) = delete;
  affinity_partitioner& operator=(const affinity_partitioner&) = delete;
};

}  // namespace tbb
