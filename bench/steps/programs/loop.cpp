// A loop that forks a child in each iteration. With tasks the deque grows with the loop; with continuations it has one
// record.
#include "bench/steps/program.hpp"

void steps::program(long size) {
  steps::call here("loop");
  const long n = size == 0 ? 4 : size;
  steps::forks all(here);
  for (long i = 0; i != n; ++i) {
    const std::string name = "iteration " + std::to_string(i);
    all.fork(name, [name] {
      steps::call iteration(name);
      iteration.returns();
    });
  }
  all.join();
  here.returns();
}
