// The real limits of the system, set with setrlimit: as no_threads_test and no_memory_test, but with the real C
// library.

#include <sys/resource.h>

#include <fstream>
#include <new>
#include <system_error>

#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

std::size_t virtual_memory() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void limit(int resource, std::size_t value) {
  const rlimit wanted{value, value};
  if (setrlimit(resource, &wanted) != 0) std::perror("setrlimit");
}

int job(unsigned p, test::stealing how) {
  try {
    fj::runtime rt(test::with(p, how));
    for (int i = 0; i < 10; ++i)
      if (rt.run([] { return fib(12); }) != 144) return 2;
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return 0;
}

}  // namespace

int main() {
  test::verdict verdict;
  for (const auto how : {test::stealing::by_need, test::stealing::every_fork})
    for (const unsigned p : {1u, 2u, 8u}) {
      const auto check = [&](const std::string& what, auto body) {
        const test::ending end = test::in_child(body, 60);
        const std::string name = what + ", P = " + std::to_string(p) + ", " + test::name_of(how);
        verdict.check(!end.too_late, name + ": hangs");
        verdict.check(end.too_late || end.code == 0, name + ": exit code " + std::to_string(end.code) + ", signal " +
                                                         std::to_string(end.signal) + ", said " + end.said);
      };
      for (const std::size_t megabytes : {1, 3, 8, 12, 20, 30, 50, 80, 120, 200, 400})
        check(std::to_string(megabytes) + " MiB more", [=] {
          limit(RLIMIT_AS, virtual_memory() + (megabytes << 20));
          return job(p, how);
        });
      // The limit on processes does not hold for the superuser, so become another user.
      for (const std::size_t threads : {1, 2, 4})
        check(std::to_string(threads) + " threads", [=] {
          if (geteuid() == 0 && setuid(54321) != 0) {
            std::puts("cannot become another user: not checked");
            return 0;
          }
          limit(RLIMIT_NPROC, threads);
          return job(p, how);
        });
    }
  return verdict.exit_code();
}
