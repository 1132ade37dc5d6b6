// Small stacks where each guard costs mappings: they take no more than their share of the mappings, and a fiber without
// a guard that overruns its stack ends the process, with a message, when it suspends next. Tried without check_canary
// in switch.cpp: the fiber ended as if nothing had been.

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "forkjoin/go.hpp"
#include "runtime/base/tuning.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

constexpr int guard_install = 102;  // MADV_GUARD_INSTALL
constexpr std::size_t small_guard = fj::detail::tuning::small_guard;

std::atomic<bool> mappings_are_refused{false};
std::atomic<long> guards{0};  // small ones, by a mapping

}  // namespace

// Instead of the C library's: a kernel without guard regions.
extern "C" int madvise(void* begin, std::size_t bytes, int advice) noexcept {
  static const auto real = reinterpret_cast<int (*)(void*, std::size_t, int)>(dlsym(RTLD_NEXT, "madvise"));
  if (advice != guard_install) return real(begin, bytes, advice);
  errno = EINVAL;
  return -1;
}

extern "C" int mprotect(void* begin, std::size_t bytes, int protection) noexcept {
  static const auto real = reinterpret_cast<int (*)(void*, std::size_t, int)>(dlsym(RTLD_NEXT, "mprotect"));
  if (bytes != small_guard || protection != PROT_NONE) return real(begin, bytes, protection);
  if (mappings_are_refused) {
    errno = ENOMEM;
    return -1;
  }
  ++guards;
  return real(begin, bytes, protection);
}

namespace {

// Uses so many bytes of the stack, in frames of some size that the compiler cannot leave out.
[[gnu::noinline]] long deep(long bytes) {
  volatile char frame[256];
  frame[bytes % 256] = 1;
  return bytes < 256 ? 0 : deep(bytes - 256) + frame[bytes % 256];
}

// The frames of deep take more than those 256 bytes.
int runs(long bytes) {
  mappings_are_refused = true;
  fj::runtime rt(test::with_procs(1));
  const fj::channel<long> results(0);
  auto fiber = rt.go([=] { results.send(deep(bytes)); });
  const bool received = results.receive().has_value();
  fiber.get();
  return received ? 7 : 1;
}

int runs_within() { return runs(100 << 10); }
int overruns() { return runs(180 << 10); }

// So many that their guards would take more than their share.
int many_wait() {
  long limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  const long share = limit / 100 * 45 / 2;
  if (share > 50'000) return 7;  // would take too much memory
  fj::runtime rt(test::with_procs(2));
  const fj::channel<int> gate(0);
  std::vector<fj::future<void>> fibers;
  for (long i = 0; i < share + 1'000; ++i) fibers.push_back(rt.go([=] { static_cast<void>(gate.receive()); }));
  gate.close();
  for (auto& each : fibers) each.get();
  return guards == share ? 7 : 1;
}

}  // namespace

int main() {
  test::verdict verdict;
  if (test::sanitized) return verdict.exit_code();  // they have frames of other sizes, and intercept these functions
  const test::ending within = test::in_child(&runs_within);
  verdict.check(within.code == 7, "within: ended with code " + std::to_string(within.code) + ", said " + within.said);
  const test::ending over = test::in_child(&overruns);
  verdict.check(over.signal == SIGABRT, "overruns: ended with signal " + std::to_string(over.signal));
  verdict.contains(over.said, "stack overflow in fiber", "overruns");
  verdict.contains(over.said, "Raise fj::options::go_stack_size", "overruns");
  const test::ending many = test::in_child(&many_wait, 100);
  verdict.check(many.code == 7, "many wait: ended with code " + std::to_string(many.code) + ", said " + many.said);
  return verdict.exit_code();
}
