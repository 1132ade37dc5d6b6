// Fibonacci numbers by plain recursion, every call a fork. Usage: fib [n], default 35.

#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 35;
  if (n < 1 || n > 60) {
    std::cerr << "fib: n is " << n << ", but must be from 1 to 60\n";
    return 1;
  }
  std::cout << "fib(" << n << ") = " << fj::run([n] { return fib(n); }) << '\n';
}
