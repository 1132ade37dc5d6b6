// OpenMP's parallel for, whose threads take turn after turn: for loops with turns of unequal cost.
#include <omp.h>

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct omp_dynamic {
  static constexpr bool is_serial = false;

  template <class Body>
  static void loop(long first, long last, long, const Body& body) {
#pragma omp parallel for schedule(dynamic, 1)
    for (long i = first; i < last; ++i) body(i, i + 1);
  }

  class team {
   public:
    team(int procs, std::size_t) { omp_set_num_threads(procs); }

    template <class F>
    void run(F&& f) {
      f();
    }
    counter_list counters() const { return {}; }
  };
};

}  // namespace bench::ways

BENCH_WAY(omp_dynamic)
