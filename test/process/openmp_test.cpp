// A branch with an OpenMP region whose threads fork. Tried without fj::blocking: with one P it does not end, because
// the branch keeps the P that the threads of the region wait for.

#include <string>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// The threads of the region are outside of any runtime, and fork in the default one.
long sum_in_region() {
  long sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 8; ++i) sum += fib(12);
  return sum;
}

int regions(const char* procs) {
  const test::environment p("FORKJOIN_PROCS", procs);
  const auto [a, b] = fj::fork_join([] { return fj::blocking(&sum_in_region); }, [] { return fib(12); });
  return a == 8 * 144 && b == 144 ? 0 : 1;
}

}  // namespace

int main() {
  test::verdict verdict;
  for (const char* procs : {"1", "2", "8"}) {
    const test::ending end = test::in_child([=] { return regions(procs); });
    verdict.check(end.code == 0 && !end.too_late, std::string("P = ") + procs + ": code " + std::to_string(end.code) +
                                                      ", too late: " + std::to_string(end.too_late) + end.said);
  }
  return verdict.exit_code();
}
