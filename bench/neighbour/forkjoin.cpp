// Runs beside a neighbour, by this library.
#include <forkjoin/fork_join.hpp>
#include <forkjoin/parallel_for.hpp>
#include <forkjoin/run.hpp>
#include <forkjoin/sort.hpp>

#include "bench/neighbour/neighbour.hpp"

namespace {

long fib_of(int n) {
  if (n < 2) return n;
  const auto [a, b] = fj::fork_join([=] { return fib_of(n - 1); }, [=] { return fib_of(n - 2); });
  return a + b;
}

class team {
 public:
  explicit team(int procs) : runtime_({.procs = static_cast<unsigned>(procs)}) {}

  long fib(int n) {
    return runtime_.run([=] { return fib_of(n); });
  }
  template <class Body>
  void loop(std::size_t iterations, const Body& body) {
    runtime_.run([&] { fj::parallel_for(std::size_t(0), iterations, body); });
  }
  void sort(std::vector<long>& numbers) {
    runtime_.run([&] { fj::parallel_sort(numbers.begin(), numbers.end()); });
  }

 private:
  fj::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) { return bench::repeat_runs<team>(argc, argv); }
