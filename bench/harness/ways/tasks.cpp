// Task stealing, for comparison: with one P, g runs before f, and a join may wait on top of its stack.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct tasks : forkjoin<fj::tasks> {};

}  // namespace bench::ways

BENCH_WAY(tasks)
