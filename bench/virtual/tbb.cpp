// oneTBB, by its way for two branches, and for more by a group.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/harness/large_stack.hpp"
#include "bench/virtual/runs.hpp"

namespace {

struct invoke {
  template <class F, class G>
  static void fork(F f, G g) {
    tbb::parallel_invoke(f, g);
  }
  template <class F>
  static void children(long n, const F& f) {
    tbb::task_group all;
    for (long i = 0; i + 1 < n; ++i) all.run([&f, i] { f(i); });
    f(n - 1);
    all.wait();
  }
};

std::string run(const shapes::tree& of, unsigned procs, double& seconds) {
  bench::on_large_stack([&] {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, procs);
    const tbb::global_control stack(tbb::global_control::thread_stack_size, bench::large_stack);
    tbb::task_arena arena(static_cast<int>(procs));
    seconds = shapes::seconds_of([&] { arena.execute([&] { of.run<invoke>(); }); });
  });
  return "";
}

}  // namespace

int main(int argc, char** argv) { return shapes::main_of({{"oneTBB", &run}}, argc, argv); }
