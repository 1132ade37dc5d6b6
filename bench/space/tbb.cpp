// oneTBB: parallel_invoke for two branches, task_group for more.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <pthread.h>

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

struct job {
  std::string_view shape;
  long n;
  unsigned procs;
  bool right = false;
};

constexpr std::size_t stack_size = std::size_t{64} << 20;  // of address space: a chain is deep

void* run_job(void* self) {
  job& mine = *static_cast<job*>(self);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, mine.procs);
  const tbb::global_control stack(tbb::global_control::thread_stack_size, stack_size);
  tbb::task_arena arena(static_cast<int>(mine.procs));
  mine.right = arena.execute([&] { return space::run<by_tbb>(mine.shape, mine.n); });
  return nullptr;
}

// On a thread with as large a stack as its workers have.
std::string run(std::string_view shape, long n, unsigned procs, bool& right) {
  job mine{shape, n, procs};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_size);
  if (pthread_create(&thread, &attributes, &run_job, &mine) == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  right = mine.right;
  return "";
}

}  // namespace

int main(int argc, char** argv) { return space::main_of({{"oneTBB", &run}}, argc, argv); }
