// The baseline: oneTBB's loops with its default partitioner.
#include "bench/harness/loops/tbb.hpp"

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct tbb : tbb_loops<const ::tbb::auto_partitioner> {};

}  // namespace bench::ways

BENCH_WAY(tbb)
