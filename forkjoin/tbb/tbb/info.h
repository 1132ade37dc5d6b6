#pragma once

#include "detail/runtime.h"

#include <vector>

namespace tbb {

using numa_node_id = int;
using core_type_id = int;

namespace info {

inline int default_concurrency(numa_node_id = -1) { return static_cast<int>(fj::procs()); }
/// One node and one kind of core, -1: as oneTBB says where it does not know them.
inline std::vector<numa_node_id> numa_nodes() { return {-1}; }
inline std::vector<core_type_id> core_types() { return {-1}; }

}  // namespace info

}  // namespace tbb
