// Calls from outside, by OpenMP.
#include "bench/outside/outside.hpp"

namespace {

class team {
 public:
  explicit team(int procs) : procs_(procs) {}
  void call(const bench::branch_work& work) {
#pragma omp parallel for num_threads(procs_) schedule(static, 1)
    for (int i = 0; i < 2; ++i) work();
  }

 private:
  int procs_;
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_calls<team>(argc, argv); }
