// Runs beside a neighbour, by oneTBB.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "bench/neighbour/neighbour.hpp"

namespace {

long fib_of(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  tbb::parallel_invoke([&] { a = fib_of(n - 1); }, [&] { b = fib_of(n - 2); });
  return a + b;
}

class team {
 public:
  explicit team(int procs)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(procs)), arena_(procs) {}

  long fib(int n) {
    return arena_.execute([=] { return fib_of(n); });
  }
  template <class Body>
  void loop(std::size_t iterations, const Body& body) {
    arena_.execute([&] { tbb::parallel_for(std::size_t(0), iterations, body); });
  }
  void sort(std::vector<long>& numbers) {
    arena_.execute([&] { tbb::parallel_sort(numbers.begin(), numbers.end()); });
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

}  // namespace

int main(int argc, char** argv) { return bench::repeat_runs<team>(argc, argv); }
