// oneTBB with one task_group for all children of a node.
#include "bench/harness/problem.hpp"
#include "bench/peers/ways/tbb_group.hpp"

namespace bench::ways {

struct tbb_node : tbb_group_policy {};

}  // namespace bench::ways

#define BENCH_NODE_WAY tbb_node
#include BENCH_NODES

BENCH_WAY(tbb_node)
