// oneTBB as in tbb, all forks in one task_group_context: a context of its own for every call, which parallel_invoke
// makes otherwise, costs more than the fork.
#include "bench/peers/ways/tbb_context.hpp"
#include "bench/harness/problem.hpp"
#include "bench/harness/ways/tbb.hpp"

namespace bench::ways {

struct tbb_context : tbb_policy {
  template <class... F>
  static auto fork(F&&... f) {
    return fork_with_results([](auto&&... g) { ::tbb::parallel_invoke(g..., shared_context()); }, f...);
  }

  template <class T, class Body>
  static T children(int count, T init, const Body& body) {
    ::tbb::task_group others(shared_context());
    return children_by(others, count, init, body);
  }
};

}  // namespace bench::ways

BENCH_WAY(tbb_context)
