// oneTBB by a task_group for every fork: spawns all closures but the last and calls that one.
#include "bench/peers/ways/tbb_group.hpp"
#include "bench/harness/problem.hpp"

namespace bench::ways {

struct tbb_group : tbb_group_policy {};

}  // namespace bench::ways

BENCH_WAY(tbb_group)
