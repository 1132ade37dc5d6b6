// The join rule that the library was built with, -Djoin_rule=FILE: runtime/base/join_rule.hpp.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct first_own : forkjoin<fj::policy<fj::first_child_first, fj::own_join>> {};

}  // namespace bench::ways

BENCH_WAY(first_own)
