// Continuation stealing, the default: f runs at once, and a thief takes the rest of the function.
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/forkjoin.hpp"

namespace bench::ways {

struct continuations : forkjoin<fj::continuations> {
  template <class Body>
  static void loop(long first, long last, long grain, const Body& body) {
    fj::parallel_for(first, last, [&](long i) { body(i, i + 1); }, {.grain = static_cast<std::size_t>(grain)});
  }
};

}  // namespace bench::ways

BENCH_WAY(continuations)
