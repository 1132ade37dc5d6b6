// oneTBB's parallel_for with affinity_partitioner and the kernel's grain.
#include "bench/harness/problem.hpp"
#include "bench/peers/ways/tbb_loop.hpp"

namespace bench::ways {

struct tbb_affinity : tbb_loop<::tbb::affinity_partitioner> {};

}  // namespace bench::ways

BENCH_WAY(tbb_affinity)
