// A recursion through scopes that is deeper than the number of stacks: then children run on their callers' stacks. The
// result is right, or the program says which stack overflowed; it never hangs.
//
// With a fork that waits for a stack, or goes on without one, this hangs or crashes.

#include <sys/resource.h>

#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr long levels = 100'000;

long down(long n) {
  if (n == 0) return 0;
  long below = 0;
  fj::scope s;
  s.fork([&below, n] { below = down(n - 1); });
  s.join();
  return below + 1;
}

// Arguments: P, way to steal, size of stacks and limit of the address space in MiB, 0 for no limit.
int run(char** arguments) {
  const auto how = static_cast<test::stealing>(std::atoi(arguments[2]));
  const test::fences fences(how);
  fj::options chosen = test::with(static_cast<unsigned>(std::atoi(arguments[1])), how);
  chosen.stack_size = static_cast<std::size_t>(std::atol(arguments[3])) * mebibyte;
  fj::runtime rt(chosen);
  rt.run([] { down(10); });  // starts its threads
  if (const auto limit = static_cast<rlim_t>(std::atol(arguments[4])) * mebibyte) {
    const rlimit address_space{limit, limit};
    if (setrlimit(RLIMIT_AS, &address_space) != 0) return 2;
  }
  return rt.run([] { return down(levels); }) == levels ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4) return run(argv);
  test::verdict verdict;
  for (const auto how :
       {test::stealing::by_need, test::stealing::every_fork, test::stealing::all_public, test::stealing::by_signal})
    for (const unsigned p : {1u, 2u, 8u}) {
      const auto run_deep = [&](long stack, long limit) {
        return test::run_again(
            {std::to_string(p), std::to_string(static_cast<int>(how)), std::to_string(stack), std::to_string(limit)},
            60);
      };
      const auto how_it_ended = [&](const test::ending& end) {
        return "P = " + std::to_string(p) + ", " + test::name_of(how) + ": ended with signal " +
               std::to_string(end.signal) + ", code " + std::to_string(end.code) + ": " + end.said;
      };
      // Some dozen stacks, the last of which takes all the other levels.
      const test::ending right = run_deep(256, 8192);
      verdict.check(right.code == 0, "large stacks: " + how_it_ended(right));
      // A few hundred, the last of which does not.
      const test::ending overflow = run_deep(1, 1024);
      verdict.check(overflow.signal == SIGABRT, "small stacks: " + how_it_ended(overflow));
      verdict.contains(overflow.said, "Raise fj::options::stack_size", "small stacks");
    }
  // No limit but the system's own. Each level has a stack, which takes a page or two.
  const test::ending unlimited = test::run_again({"2", "0", "1", "0"}, 60);
  verdict.check(unlimited.code == 0 || (unlimited.signal == SIGABRT &&
                                        unlimited.said.find("Raise fj::options::stack_size") != std::string::npos),
                "unlimited: ended with signal " + std::to_string(unlimited.signal) + ": " + unlimited.said);
  return verdict.exit_code();
}
