// oneTBB's parallel_for with static_partitioner and the kernel's grain.
#include "bench/harness/problem.hpp"
#include "bench/peers/ways/tbb_loop.hpp"

namespace bench::ways {

struct tbb_static : tbb_loop<::tbb::static_partitioner> {};

}  // namespace bench::ways

BENCH_WAY(tbb_static)
