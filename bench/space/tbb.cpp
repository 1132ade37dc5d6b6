// oneTBB: parallel_invoke for two branches, task_group for more.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/harness/large_stack.hpp"
#include "bench/space/shapes.hpp"

namespace {

struct by_tbb {
  class group {
   public:
    template <class F>
    void fork(F f) {
      tasks_.run(f);
    }
    void join() { tasks_.wait(); }

   private:
    tbb::task_group tasks_;
  };
  template <class F, class G>
  static void fork(F f, G g) {
    tbb::parallel_invoke(f, g);
  }
};

// On a thread with as large a stack as its workers have.
std::string run(const space::program& of, unsigned procs, bool& right) {
  bench::on_large_stack([&] {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, procs);
    const tbb::global_control stack(tbb::global_control::thread_stack_size, bench::large_stack);
    tbb::task_arena arena(static_cast<int>(procs));
    right = arena.execute([&] { return space::run<by_tbb>(of); });
  });
  return "";
}

}  // namespace

int main(int argc, char** argv) { return space::main_of({{"oneTBB", &run}}, argc, argv); }
