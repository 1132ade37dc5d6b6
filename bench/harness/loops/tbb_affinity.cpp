// oneTBB's loops with affinity_partitioner.
#include "bench/harness/loops/tbb.hpp"
#include "bench/harness/problem.hpp"

namespace bench::ways {

struct tbb_affinity : tbb_loops<::tbb::affinity_partitioner> {};

}  // namespace bench::ways

BENCH_WAY(tbb_affinity)
