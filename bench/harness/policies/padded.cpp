// As again; meson.build has this one compiled with other padding between functions.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct padded : forkjoin<fj::continuations> {};

}  // namespace bench::ways

BENCH_WAY(padded)
