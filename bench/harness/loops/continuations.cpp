// The library's loops and algorithms, by continuations.
#include "bench/harness/loops/forkjoin.hpp"

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct continuations : forkjoin_loops<fj::continuations> {};

}  // namespace bench::ways

BENCH_WAY(continuations)
