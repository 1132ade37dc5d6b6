// The baseline: oneTBB by parallel_invoke.
#include "bench/harness/ways/tbb.hpp"

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct tbb : tbb_policy {};

}  // namespace bench::ways

BENCH_WAY(tbb)
