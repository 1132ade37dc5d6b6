// Runs beside a neighbour, by OpenMP: tasks, a loop in its default schedule, and the sort of libstdc++ that is made of
// OpenMP.
#include <omp.h>

// With clang, libstdc++'s sort derives from a deprecated class in this file.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <parallel/algorithm>

#include "bench/neighbour/neighbour.hpp"

namespace {

long fib_of(int n) {
  if (n < 2) return n;
  long a = 0;
#pragma omp task shared(a)
  a = fib_of(n - 1);
  const long b = fib_of(n - 2);
#pragma omp taskwait
  return a + b;
}

class team {
 public:
  explicit team(int procs) { omp_set_num_threads(procs); }

  long fib(int n) {
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = fib_of(n);
    return result;
  }
  template <class Body>
  void loop(std::size_t iterations, const Body& body) {
#pragma omp parallel for
    for (std::size_t i = 0; i < iterations; ++i) body(i);
  }
  void sort(std::vector<long>& numbers) { __gnu_parallel::sort(numbers.begin(), numbers.end()); }
};

}  // namespace

int main(int argc, char** argv) { return bench::repeat_runs<team>(argc, argv); }
