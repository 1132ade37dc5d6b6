// oneTBB's parallel_for with auto_partitioner and the kernel's grain.
#include "bench/harness/problem.hpp"
#include "bench/peers/ways/tbb_loop.hpp"

namespace bench::ways {

struct tbb_auto : tbb_loop<::tbb::auto_partitioner> {};

}  // namespace bench::ways

BENCH_WAY(tbb_auto)
