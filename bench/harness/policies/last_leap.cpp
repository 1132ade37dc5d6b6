// A policy between continuations and tasks, to tell the order of a fork from its join.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct last_leap : forkjoin<fj::policy<fj::last_child_first, fj::leapfrog>> {};

}  // namespace bench::ways

BENCH_WAY(last_leap)
