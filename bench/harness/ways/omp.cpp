// OpenMP tasks: all closures but the last become tasks, the last is called, then the tasks are waited for.
#include <omp.h>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/children.hpp"
#include "bench/harness/ways/results.hpp"

namespace bench::ways {

struct omp {
  static constexpr bool is_serial = false;

  template <class... F>
  static auto fork(F&&... f) {
    return fork_with_results(
        [](auto&&... g) {
          spawn(g...);
#pragma omp taskwait
        },
        f...);
  }

  template <class T, class Body>
  static T children(int count, T init, const Body& body) {
    child_results<T> found(count);
    for (int i = 0; i < count - 1; ++i) {
#pragma omp task firstprivate(i) shared(found, body)
      found[i] = body(i);
    }
    if (count > 0) found[count - 1] = body(count - 1);
#pragma omp taskwait
    return found.add_up(init, count);
  }

  template <class Body>
  static void loop(long first, long last, long grain, const Body& body) {
#pragma omp taskgroup
    for (long from = first; from < last; from += grain) {
      const long to = last - from < grain ? last : from + grain;
#pragma omp task firstprivate(from, to) shared(body)
      body(from, to);
    }
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

 private:
  template <class F, class... More>
  static void spawn(F& f, More&... more) {
    if constexpr (sizeof...(More) == 0) {
      f();
    } else {
#pragma omp task shared(f)
      f();
      spawn(more...);
    }
  }
};

}  // namespace bench::ways

BENCH_WAY(omp)
