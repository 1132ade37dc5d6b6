// A user's program, compiled outside the tree against the installed library, or as a project of which this one is a
// subproject.

#include <forkjoin/forkjoin.hpp>

// No other name of the library is on the include path.
#if __has_include(<runtime/sched/worker.hpp>) || __has_include(<worker.hpp>) || __has_include(<os/memory/pages.hpp>) || \
    __has_include(<run.hpp>) || __has_include(<test/support.hpp>) || __has_include(<forkjoin/forkjoin/forkjoin.hpp>)
#error "a header is visible that is none of the library's"
#endif

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main() {
  return fj::run([] { return fib(20); }) == 6765 ? 0 : 1;
}
