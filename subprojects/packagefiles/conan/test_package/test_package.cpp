#include <forkjoin/forkjoin.hpp>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main() {
  return fj::run([] { return fib(20); }) == 6765 ? 0 : 1;
}
