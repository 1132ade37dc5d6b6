// oneTBB by task_group: spawns one branch and calls the other. This is cheaper than the two `run` of oneTBB's
// introductory example.
#include <tbb/task_group.h>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/tbb.hpp"

namespace bench::ways {

struct tbb_group : tbb_policy {
  template <class F, class G>
  static auto fork(F&& f, G&& g) {
    const auto fork_void = [](auto&& spawned, auto&& called) {
      ::tbb::task_group group;
      group.run(spawned);
      called();
      group.wait();
    };
    return fork_with_results(fork_void, f, g);
  }
};

}  // namespace bench::ways

BENCH_WAY(tbb_group)
