#pragma once

#include "detail/runtime.h"

#include <vector>

namespace tbb {

using numa_node_id = int;
using core_type_id = int;

namespace fj_detail {

/// What an arena may ask for, of which max_concurrency alone counts.
struct constraints {
  constraints(numa_node_id node = -1, int concurrency = -1) : numa_id(node), max_concurrency(concurrency) {}
  constraints& set_numa_id(numa_node_id node) { return numa_id = node, *this; }
  constraints& set_max_concurrency(int n) { return max_concurrency = n, *this; }
  constraints& set_core_type(core_type_id kind) { return core_type = kind, *this; }
  constraints& set_max_threads_per_core(int n) { return max_threads_per_core = n, *this; }

  numa_node_id numa_id;
  int max_concurrency;
  core_type_id core_type = -1;
  int max_threads_per_core = -1;
};

}  // namespace fj_detail

namespace info {

/// Of the default runtime, also in an arena.
inline int default_concurrency(numa_node_id = -1) {
  return static_cast<int>(fj::detail::procs_of(fj::detail::default_scheduler()));
}
inline int default_concurrency(const fj_detail::constraints& wanted) {
  return wanted.max_concurrency > 0 ? wanted.max_concurrency : default_concurrency();
}
/// One node and one kind of core, -1: as oneTBB says where it does not know them.
inline std::vector<numa_node_id> numa_nodes() { return {-1}; }
inline std::vector<core_type_id> core_types() { return {-1}; }

}  // namespace info

}  // namespace tbb
