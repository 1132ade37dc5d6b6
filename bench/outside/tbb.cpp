// Calls from outside, by oneTBB.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include "bench/outside/outside.hpp"

namespace {

class team {
 public:
  explicit team(int procs)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(procs)), arena_(procs) {}
  void call(const bench::branch_work& work) {
    arena_.execute([&] { tbb::parallel_invoke(work, work); });
  }
  void loop(std::size_t n, const auto& body) { tbb::parallel_for(std::size_t{0}, n, body); }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_calls<team>(argc, argv); }
