// The program ends while other threads are inside run on the default runtime: no crash, no hang.

#include <cstdlib>
#include <thread>

#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// Uses the runtime while static objects are destroyed.
struct late_user {
  ~late_user() {
    if (works && fj::run([] { return fib(10); }) != 55) std::_Exit(5);
  }
  bool works = false;
} late;

int program(const std::string& how) {
  std::atomic<bool> inside{false};
  if (how != "late") {
    for (int t = 0; t < 2; ++t)
      std::thread([&] {
        for (;;)
          fj::run([&] {
            // Never ends, except when another job is to have its turn.
            do {
              fib(15);
              inside = true;
            } while (how != "fiber");
          });
      }).detach();
    // The thread's frame refers to `inside`: do not leave it before the process ends.
    test::spin_until([&] { return inside.load(); });
    if (how == "main") std::exit(0);
    if (how == "fiber") fj::run([] { std::exit(0); });
    if (how == "quick") std::quick_exit(0);
  }
  late.works = true;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return program(argv[1]);
  test::verdict verdict;
  for (const char* procs : {"1", "2", "8"})
    for (const std::string how : {"main", "fiber", "quick", "late"})
      for (const char* stats : {"0", "1"}) {
        const test::environment p("FORKJOIN_PROCS", procs), print("FORKJOIN_STATS", stats);
        const test::ending end = test::run_again({how}, 60);
        verdict.check(!end.too_late, how + ": hangs");
        verdict.check(end.too_late || end.code == 0, how + " with P = " + procs + ": exit code " +
                                                         std::to_string(end.code) + ", signal " +
                                                         std::to_string(end.signal));
      }
  return verdict.exit_code();
}
