// oneTBB's loops with static_partitioner.
#include "bench/harness/loops/tbb.hpp"
#include "bench/harness/problem.hpp"

namespace bench::ways {

struct tbb_static : tbb_loops<const ::tbb::static_partitioner> {};

}  // namespace bench::ways

BENCH_WAY(tbb_static)
