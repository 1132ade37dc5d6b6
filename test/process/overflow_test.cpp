// A stack that is too small: the program says which fiber overflowed, its size and the option to raise, and aborts. It
// does not call a wrong pointer into the guard of a stack an overflow.

#include <sys/mman.h>

#include <cstdint>

#include "runtime/os/memory/pages.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

constexpr long stack_size = 64 << 10;
volatile int* volatile nowhere = nullptr;

// Frames of some size that the compiler cannot leave out.
[[gnu::noinline]] long deep(long n) {
  volatile char frame[1024];
  frame[n % 1024] = 1;
  return n == 0 ? 0 : deep(n - 1) + frame[n % 1024];
}

long fork_deep(long n) {
  auto [a, b] = fj::fork_join([=] { return n == 0 ? 0 : fork_deep(n - 1); }, [] { return 1; });
  return a + b;
}

// One frame larger than the stack, touched at its far end.
[[gnu::noinline]] int large_frame() {
  char frame[700'000];
  char* volatile far_end = frame;  // so that the compiler does not make the frame smaller
  *far_end = 1;
  return frame[far_end - frame];
}

// A frame that steps over the guard; touches a part of it that does not.
[[gnu::noinline]] int huge_frame() {
  char frame[3'000'000];
  static char* volatile below_top;
  below_top = frame + sizeof(frame) - 2 * stack_size - 200'000;
  *below_top = 1;
  return frame[below_top - frame];
}

// Reads outside of the caller's data, as a loop that leaves an array on the heap below this stack.
[[gnu::noinline]] void read_guard() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  static_cast<void>(*reinterpret_cast<volatile char*>(here - 2 * stack_size - 200'000));
}

// Reads upwards from its own frame: the fiber, and the page above it.
[[gnu::noinline]] void read_above() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  for (std::uintptr_t at = here; at < here + 64 * 1024; ++at) static_cast<void>(*reinterpret_cast<volatile char*>(at));
}

bool has_guard_regions() {
  const std::size_t page = fj::detail::os::page_size();
  std::byte* const tried = fj::detail::os::reserve_pages(page);
  return tried && madvise(tried, page, 102) == 0;  // MADV_GUARD_INSTALL
}

int overflow(const std::string& how) {
  fj::options options =
      test::with(2, how.find("stolen") != how.npos ? test::stealing::every_fork : test::stealing::by_need);
  options.stack_size = stack_size;
  if (how == "ignored") signal(SIGSEGV, SIG_IGN);
  if (how == "handled") signal(SIGSEGV, [](int) { _exit(7); });
  fj::runtime rt(options);
  if (how == "job") rt.run([] { deep(1'000'000); });
  if (how == "forks") rt.run([] { fork_deep(1'000'000); });
  if (how == "large frame") rt.run([] { large_frame(); });
  if (how == "huge frame") rt.run([] { huge_frame(); });
  if (how == "guard") rt.run([] { read_guard(); });
  if (how == "guard above") rt.run([] { read_above(); });
  if (how == "guard of a stolen branch") rt.run([] { fj::fork_join([] {}, [] { read_guard(); }); });
  if (how == "guard of a scope's child")
    rt.run([] { fj::with_scope([](fj::scope& s) { s.fork([] { read_guard(); }); }); });
  if (how == "stolen") rt.run([] { fj::fork_join([] {}, [] { deep(1'000'000); }); });
  if (how == "scope's child") {
    rt.run([] {
      for (int i = 0; i < 100; ++i) fj::fork_join([] {}, [] {});  // stacks that other strands have used before
      fj::scope s;
      s.fork([] { deep(1'000'000); });
    });
  }
  if (how == "thief") {  // a thief runs on a thread of the runtime
    rt.run([] { fj::fork_join([] { test::spin_until([] { return nowhere != nullptr; }); }, [] { deep(1'000'000); }); });
  }
  if (how == "second") {
    rt.run([] { deep(10); });
    rt.run([] { deep(1'000'000); });
  }
  if (how == "handled") rt.run([] { read_guard(); });
  if (how == "null") rt.run([] { *nowhere = 1; });
  if (how == "outside") *nowhere = 1;
  if (how == "ignored") kill(getpid(), SIGSEGV);
  if (how == "sent") {
    kill(getpid(), SIGSEGV);
    pause();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return overflow(argv[1]);
  test::verdict verdict;
  for (const std::string how :
       {"job", "forks", "large frame", "huge frame", "second", "stolen", "thief", "scope's child"}) {
    const test::ending end = test::run_again({how});
    verdict.check(end.signal == SIGABRT,
                  how + ": ended with signal " + std::to_string(end.signal) + ", code " + std::to_string(end.code));
    verdict.contains(end.said, "stack overflow in fiber ", how);
    verdict.contains(end.said,
                     how == "stolen" || how == "thief" ? "(a stolen branch)"
                     : how == "scope's child"          ? "(a scope's child)"
                                                       : "(the code that entered the runtime)",
                     how);
    const std::size_t size = end.said.find("its stack of ");
    const long bytes = size == std::string::npos ? 0 : std::atol(end.said.c_str() + size + 13);
    verdict.check(bytes >= stack_size && bytes < stack_size + 16384, how + ": a stack of " + std::to_string(bytes));
    verdict.contains(end.said, "Raise fj::options::stack_size", how);
  }
  // If the handler takes every access to a guard for an overflow (tried), each is called one.
  for (const std::string how :
       {"guard", "guard above", "guard of a stolen branch", "guard of a scope's child", "handled"}) {
    if (how == "guard above" && !has_guard_regions()) continue;
    const test::ending end = test::run_again({how});
    verdict.check(how == "handled" ? end.code == 7 : end.signal == SIGSEGV,
                  how + ": ended with signal " + std::to_string(end.signal) + ", code " + std::to_string(end.code));
    verdict.contains(end.said, "forkjoin: access to the guard page of fiber ", how);
    verdict.contains(end.said, "not an overflow", how);
    verdict.check(end.said.find("stack_size") == std::string::npos, how + ": called an overflow");
  }
  // Other faults end the program as usual, and are not called overflows.
  for (const std::string how : {"null", "outside", "sent"}) {
    const test::ending end = test::run_again({how});
    verdict.check(end.signal == SIGSEGV, how + ": ended with signal " + std::to_string(end.signal));
    verdict.check(end.said.find("overflow") == std::string::npos, how + ": called an overflow");
  }
  verdict.check(test::run_again({"ignored"}).code == 0, "a signal that the program ignores ended it");
  return verdict.exit_code();
}
