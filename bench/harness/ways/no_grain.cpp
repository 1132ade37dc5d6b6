// Continuation stealing with loops as most programs write them: without a grain.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct no_grain : forkjoin<fj::continuations> {
  template <class Body>
  static void loop(long first, long last, long, const Body& body) {
    fj::parallel_for(first, last, [&](long i) { body(i, i + 1); });
  }
};

}  // namespace bench::ways

BENCH_WAY(no_grain)
