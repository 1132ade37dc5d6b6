// The baseline: oneTBB's sort. The arena limits the threads that work on it, the global control the threads of the
// process.
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "bench/algorithms/sort_inputs.hpp"

namespace {

class team {
 public:
  explicit team(int procs)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(procs)), arena_(procs) {}

  void sort(bench::sort_input& all) {
    arena_.execute([&] { tbb::parallel_sort(all.begin(), all.end()); });
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

[[maybe_unused]] const bool registered =
    bench::register_sort("sort", "tbb", {1, 2}, [](int procs) { return std::make_unique<team>(procs); });

}  // namespace
