// oneTBB by parallel_invoke, under the name that tells it from tbb_group.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/tbb.hpp"

namespace bench::ways {

struct tbb_invoke : tbb_policy {};

}  // namespace bench::ways

BENCH_WAY(tbb_invoke)
