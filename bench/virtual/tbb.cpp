// oneTBB, by its way for two branches.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/virtual/runs.hpp"

namespace {

struct invoke {
  template <class F, class G>
  static void fork(F f, G g) {
    tbb::parallel_invoke(f, g);
  }
};

std::string run(const shapes::tree& of, unsigned procs, double& seconds) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, procs);
  tbb::task_arena arena(static_cast<int>(procs));
  seconds = shapes::seconds_of([&] { arena.execute([&] { of.run<invoke>(); }); });
  return "";
}

}  // namespace

int main(int argc, char** argv) { return shapes::main_of({{"oneTBB", &run}}, argc, argv); }
