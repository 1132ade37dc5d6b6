#include "runtime/os/on_signal.hpp"

#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/thread.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

// Never destroyed: a signal may come while the process ends.
sem_t came;
constinit thread acts;               // a program may make a runtime before this file's objects would be made
std::atomic<unsigned> acts_in{~0u};  // process_generation: a thread does not go through fork(2). ~0: it never started
void (*what)() noexcept = nullptr;

os::mutex starting;

// The copy that fork(2) makes begins anew. No fork waits for the mutex: another of the library's may be held where it
// is taken.
[[maybe_unused]] const bool starts_anew = at_fork(nullptr, nullptr, [] { std::construct_at(&starting); });

void handle(int) {
  const int before = errno;
  sem_post(&came);  // async-signal-safe
  errno = before;
}

void serve(void*) noexcept {
  for (;;) {
    while (sem_wait(&came) != 0) let_interrupts_through();
    while (sem_trywait(&came) == 0) {}
    what();
  }
}

}  // namespace

bool on_signal(int number, void (*act)() noexcept) noexcept {
  // The program would go on at the fault, and act without end.
  if (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP) return false;
  const std::lock_guard lock(starting);
  if (acts_in.load(std::memory_order_relaxed) != process_generation()) {
    what = act;
    if (sem_init(&came, 0, 0) != 0 || !acts.start(&serve, nullptr)) return false;
    acts_in.store(process_generation(), std::memory_order_relaxed);
  }
  struct sigaction by{};
  by.sa_handler = &handle;
  by.sa_flags = SA_RESTART | SA_ONSTACK;  // a strand's stack may be small
  return sigaction(number, &by, nullptr) == 0;
}

unsigned threads_for_signals() noexcept {
  return acts_in.load(std::memory_order_relaxed) == process_generation() ? 1 : 0;
}

bool handles_other_signals() noexcept {
  constexpr std::array harmless{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction by{};
    if (sigaction(number, nullptr, &by) != 0) continue;  // one of the C library's own
    if (by.sa_handler == SIG_DFL || by.sa_handler == SIG_IGN || by.sa_handler == &handle) continue;
    if (number == interrupt_signal()) continue;
    if (std::find(harmless.begin(), harmless.end(), number) == harmless.end()) return true;
  }
  return false;
}

}}}}  // namespace fj::v0_4::detail::os
