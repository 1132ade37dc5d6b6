// The n-th Fibonacci number, as the article that the project began with computes it: fib(1) and fib(2) are 1.
#include "bench/steps/program.hpp"

namespace {

std::string fib_of(long n) { return "fib(" + std::to_string(n) + ")"; }

long fib(long n) {
  steps::call here(fib_of(n));
  if (n <= 2) return here.returns(1);
  long a = 0, b = 0;
  steps::forks both(here);
  both.fork(fib_of(n - 1), [&] { a = fib(n - 1); });
  both.fork(fib_of(n - 2), [&] { b = fib(n - 2); });
  both.join();
  return here.returns(a + b);
}

}  // namespace

void steps::program(long size) {
  steps::call here("main");
  const long n = size == 0 ? 4 : size;
  long result = 0;
  steps::forks forked(here);
  forked.fork(fib_of(n), [&] { result = fib(n); });
  forked.join();
  here.returns_after("print " + std::to_string(result));
}
