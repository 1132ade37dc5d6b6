// fj::continuations once more: the same program, made a second time, so that its code lies elsewhere. What the two
// differ by is noise, and code placement.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct again : forkjoin<fj::continuations> {};

}  // namespace bench::ways

BENCH_WAY(again)
