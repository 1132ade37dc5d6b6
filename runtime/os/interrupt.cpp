#include "runtime/os/interrupt.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>

#include "forkjoin/abi/mutex.hpp"
#include "runtime/os/backtrace.hpp"
#include "runtime/os/signal_thread.hpp"
#include "runtime/os/stop_threads.hpp"
#include "runtime/os/thread.hpp"

#define FORKJOIN_OF_THE_THREAD __attribute__((no_sanitize("thread")))

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

mutex installing_interrupts;
std::atomic<int> interrupts_by{0};  // the signal
struct sigaction interrupts_before{};
std::atomic<bool> wanted{false};  // by threads of the library that had started before

// The copy that fork(2) makes has no thread that would unlock it.
[[maybe_unused]] const bool is_free_in_copies =
    at_fork(nullptr, nullptr, [] { std::construct_at(&installing_interrupts); });

// Of the thread.
struct interrupt_answer {
  void (*call)(void*) noexcept;
  void* argument;
};
// initial-exec: the signal handler must not be the first to ask for the memory of thread-locals.
[[gnu::tls_model("initial-exec")]] constinit thread_local interrupt_answer own_answer{nullptr, nullptr};

// Not seen by ThreadSanitizer, to which each strand is a thread: what lies here, and errno, is the thread's own.
FORKJOIN_OF_THE_THREAD void handle_interrupt(int number, siginfo_t* about, void* context) {
  const int before = errno;
  // Also to a signal of the program's, with which the system may have merged one of the library's.
  if (own_answer.call) own_answer.call(own_answer.argument);
  answer_backtrace();
  answer_stop(context);
  const bool is_own = is_interrupt(*about);
  if (!is_own && interrupts_before.sa_flags & SA_SIGINFO) {
    interrupts_before.sa_sigaction(number, about, context);
  } else if (!is_own && interrupts_before.sa_handler != SIG_DFL && interrupts_before.sa_handler != SIG_IGN) {
    interrupts_before.sa_handler(number);
  }
  errno = before;
}

}  // namespace

int usual_interrupt_signal() noexcept { return SIGURG; }

bool may_be_interrupt_signal(int number) noexcept {
  constexpr std::array others{SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP, SIGABRT, SIGSYS,  SIGTERM,
                              SIGINT,  SIGHUP,  SIGQUIT, SIGALRM, SIGCHLD, SIGPIPE, SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU};
  return number >= 1 && number <= SIGRTMAX && std::find(others.begin(), others.end(), number) == others.end();
}

int interrupt_signal() noexcept { return interrupts_by.load(std::memory_order_relaxed); }

bool allow_interrupts(int number) noexcept {
  const locked lock(installing_interrupts);
  if (interrupt_signal() != 0) return interrupt_signal() == number;
  struct sigaction by{};
  by.sa_sigaction = &handle_interrupt;
  by.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  // First what was there: a signal that comes at once is passed on to it.
  if (sigaction(number, nullptr, &interrupts_before) != 0 || sigaction(number, &by, nullptr) != 0) return false;
  interrupts_by.store(number, std::memory_order_relaxed);
  return true;
}

FORKJOIN_OF_THE_THREAD void on_interrupt(void (*call)(void*) noexcept, void* argument) noexcept {
  own_answer.call = nullptr;  // an interrupt may come between the two
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own_answer.argument = argument;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own_answer.call = call;
}

bool blocks_interrupts() noexcept {
  sigset_t blocked;
  return pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || sigismember(&blocked, interrupt_signal()) == 1;
}

bool interrupt(int thread) noexcept { return interrupt_thread(thread, interrupt_signal()); }

bool interrupts_are_handled() noexcept {
  struct sigaction present{};
  return interrupt_signal() != 0 && sigaction(interrupt_signal(), nullptr, &present) == 0 &&
         (present.sa_flags & SA_SIGINFO) && present.sa_sigaction == &handle_interrupt;
}

void want_interrupts() noexcept { wanted.store(true, std::memory_order_relaxed); }

void let_interrupts_through() noexcept {
  if (!wanted.load(std::memory_order_relaxed)) return;
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, interrupt_signal());
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

}}}}  // namespace fj::v0_4::detail::os
