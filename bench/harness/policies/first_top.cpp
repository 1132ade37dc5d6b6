// A policy between continuations and tasks, to tell the order of a fork from its join.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct first_top : forkjoin<fj::policy<fj::first_child_first, fj::run_on_top>> {};

}  // namespace bench::ways

BENCH_WAY(first_top)
