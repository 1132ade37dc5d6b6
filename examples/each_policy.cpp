// One tree of forks with several policies: which child runs first, and what a strand does that waits at a join. The
// results are the same, what the Ps did is not. Usage: each_policy [n], default 30.

#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>

template <class Policy>
long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join<Policy>([=] { return fib<Policy>(n - 1); }, [=] { return fib<Policy>(n - 2); });
  return a + b;
}

template <class Policy>
long count_leaves(int depth) {
  long leaves[3] = {1, 0, 0};
  fj::basic_scope<Policy> children;
  for (int i = 0; depth > 0 && i < 3; ++i) children.fork([=, &leaves] { leaves[i] = count_leaves<Policy>(depth - 1); });
  children.join();
  return leaves[0] + leaves[1] + leaves[2];
}

template <class Policy>
void show(const char* name, int n) {
  fj::runtime rt;
  const long number = rt.run([=] { return fib<Policy>(n); });
  const long leaves = rt.run([=] { return count_leaves<Policy>(6); });
  const fj::counters did = rt.stats().total();
  std::cout << name << ": fib(" << n << ") = " << number << ", " << leaves << " leaves\n";
  std::cerr << "  " << did.steals << " forks were stolen, " << did.join_waits << " joins had to wait\n";
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 30;
  show<fj::continuations>("continuations", n);
  show<fj::tasks>("tasks", n);
  show<fj::policy<fj::first_child_first, fj::run_on_top>>("first child first, run on top", n);
  show<fj::policy<fj::last_child_first, fj::leave_stack>>("last child first, leave the stack", n);
  show<fj::policy<fj::last_child_first, fj::leapfrog>>("last child first, leapfrog", n);
}
