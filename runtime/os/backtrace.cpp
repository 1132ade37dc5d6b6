#include "runtime/os/backtrace.hpp"

#include <execinfo.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>

#include "forkjoin/abi/mutex.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/thread.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

constexpr int most_frames = 64;
constexpr int own_frames = 3;  // answer_backtrace, the handler of interrupts, and what the system calls that by
constexpr std::int64_t for_answer_ns = 200'000'000;

std::atomic<bool> allowed{false};
os::mutex asking;
void* frames[most_frames];
std::atomic<int> found{0}, asked_thread{0};  // 0: none
sem_t answer_is_there;

// The copy that fork(2) makes has no thread that asks or answers.
[[maybe_unused]] const bool asks_anew = at_fork(nullptr, nullptr, [] {
  std::construct_at(&asking);
  asked_thread.store(0, std::memory_order_relaxed);
  sem_init(&answer_is_there, 0, 0);
});

// Unless the program has a handler of its own, which may be there for a moment alone.
bool can_interrupt() noexcept {
  if (interrupt_signal() != 0) return interrupts_are_handled();
  const int number = usual_interrupt_signal();
  struct sigaction present{};
  if (sigaction(number, nullptr, &present) != 0) return false;
  return (present.sa_handler == SIG_DFL || present.sa_handler == SIG_IGN) && allow_interrupts(number);
}

bool wait_for_answer() noexcept {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += for_answer_ns;
  until.tv_sec += until.tv_nsec / 1'000'000'000;
  until.tv_nsec %= 1'000'000'000;
  int error = 0;
  do {
    error = sem_timedwait(&answer_is_there, &until) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == 0) return true;
  int none = asked_thread.exchange(0, std::memory_order_relaxed);
  if (none != 0) return false;
  while (sem_wait(&answer_is_there) != 0) {}  // it has just begun to answer
  return true;
}

}  // namespace

void allow_backtraces() noexcept {
  void* one[1];
  backtrace(one, 1);  // the first call loads a library, which a signal handler may not
  if (backtraces_allowed()) return;
  const locked lock(asking);
  if (!backtraces_allowed()) allowed.store(sem_init(&answer_is_there, 0, 0) == 0, std::memory_order_relaxed);
}

void answer_backtrace() noexcept {
  int me = asked_thread.load(std::memory_order_relaxed);
  if (me == 0 || !is_this_thread(me)) return;
  // One that answers too late finds another thread or none asked. acquire: pairs with the release in print_backtrace
  if (!asked_thread.compare_exchange_strong(me, 0, std::memory_order_acquire)) return;
  found.store(backtrace(frames, most_frames), std::memory_order_relaxed);
  sem_post(&answer_is_there);
}

bool backtraces_allowed() noexcept { return allowed.load(std::memory_order_relaxed); }

void print_backtrace(int thread) noexcept {
  if (!backtraces_allowed()) return;
  const locked lock(asking);
  if (!can_interrupt()) {
    print_error("  (not known, as the program handles SIGURG itself)\n");
    return;
  }
  asked_thread.store(thread, std::memory_order_release);  // release: pairs with the acquire in answer_backtrace
  const bool answers = interrupt(thread) && wait_for_answer();
  asked_thread.store(0, std::memory_order_relaxed);
  if (!answers) {
    print_error("  (not known, as its thread does not answer)\n");
    return;
  }
  const int count = found.load(std::memory_order_relaxed);
  if (count > own_frames) backtrace_symbols_fd(frames + own_frames, count - own_frames, STDERR_FILENO);
}

}}}}  // namespace fj::v0_4::detail::os
