// Continuation stealing, the default: f runs at once, and a thief takes the rest of the function.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct continuations : forkjoin<fj::continuations> {};

}  // namespace bench::ways

BENCH_WAY(continuations)
