// As tbb_group, with one task_group_context for all groups.
#include "bench/harness/problem.hpp"
#include "bench/peers/ways/tbb_group.hpp"

namespace bench::ways {

struct tbb_group_context : tbb_group_shared_policy {};

}  // namespace bench::ways

BENCH_WAY(tbb_group_context)
