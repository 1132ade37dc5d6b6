// OpenMP with a task for each child of a node but the last, and one taskwait for all.
#include <omp.h>

#include "bench/harness/problem.hpp"

namespace bench::ways {

struct omp_node {
  static constexpr bool is_serial = false;

  /// The nodes of these kernels fork by `each` alone.
  template <class F, class G>
  static auto fork(F&& f, G&& g) {
    return std::pair(f(), g());
  }

  /// body(0) to body(count - 1), each a task but the last, which the caller runs.
  template <class Body>
  static void each(int count, const Body& body) {
    for (int i = 0; i + 1 < count; ++i) {
#pragma omp task firstprivate(i) shared(body)
      body(i);
    }
    body(count - 1);
#pragma omp taskwait
  }

  class team {
   public:
    team(int procs, std::size_t) : procs_(procs) {}  // stacks: OMP_STACKSIZE

    template <class F>
    void run(F&& f) {
#pragma omp parallel num_threads(procs_)
#pragma omp single
      f();
    }
    counter_list counters() const { return {}; }

   private:
    int procs_;
  };
};

}  // namespace bench::ways

#define BENCH_NODE_WAY omp_node
#include BENCH_NODES

BENCH_WAY(omp_node)
