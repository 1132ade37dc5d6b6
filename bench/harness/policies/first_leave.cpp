// fj::continuations, with many children forked as the other policies fork them: two at a time.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct first_leave : forkjoin<fj::continuations, false> {};

}  // namespace bench::ways

BENCH_WAY(first_leave)
