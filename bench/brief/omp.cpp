// Brief loops, by OpenMP's static schedule.
#include <omp.h>

#include "bench/brief/brief.hpp"

namespace {

class team {
 public:
  explicit team(int procs) : procs_(procs) {}

  // OpenMP's threads spin for some time after a loop: in the measured series, but not while other programs are
  // measured. hard: after a soft pause libomp's spin on.
  template <class F>
  void within(const F& f) {
    omp_set_num_threads(procs_);
    f();
    omp_pause_resource_all(omp_pause_hard);
  }

  static void roots(const double* from, double* to, std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) to[i] = std::sqrt(from[i]);
  }

 private:
  int procs_;
};

}  // namespace

int main(int argc, char** argv) { return bench::answer_all<team>(argc, argv, bench::call_of<team>); }
