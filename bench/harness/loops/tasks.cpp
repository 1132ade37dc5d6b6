// The library's loops and algorithms, by tasks.
#include "bench/harness/loops/forkjoin.hpp"

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct tasks : forkjoin_loops<fj::tasks> {};

}  // namespace bench::ways

BENCH_WAY(tasks)
