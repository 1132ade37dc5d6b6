// oneTBB with one task_group for all children of a node, and one task_group_context for all groups.
#include "bench/harness/problem.hpp"
#include "bench/peers/ways/tbb_group.hpp"

namespace bench::ways {

struct tbb_node_context : tbb_group_shared_policy {};

}  // namespace bench::ways

#define BENCH_NODE_WAY tbb_node_context
#include BENCH_NODES

BENCH_WAY(tbb_node_context)
