#include "runtime/os/thread.hpp"

#include "runtime/os/backtrace.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/stop_threads.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>

// The Itanium C++ ABI's name of the module that this code is in. Under a name of its own: the compiler declares
// __dso_handle itself, in another way, once it has needed it.
extern "C" [[gnu::visibility("hidden")]] void* forkjoin_v0_4_this_module asm("__dso_handle");

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

void* thread::first_frame(void* self) noexcept {
  auto* thread = static_cast<class thread*>(self);
  thread->use_all_cpus();  // for what it calls and starts; before it has a number, by which a waker would narrow it
  note_first_frame();
  if (thread->turn_) turns::arrive(*thread->turn_);
  thread->body_(thread->argument_);
  if (thread->turn_) turns::mine()->leave();
  return nullptr;
}

bool thread::start(void (*body)(void*) noexcept, void* argument, placement where) noexcept {
  body_ = body;
  argument_ = argument;
  turns* const in_turn = turns::mine();
  if (in_turn) turn_ = &in_turn->begin();
  // The application's asynchronous signals are for its own threads, so the runtime's threads start with them blocked.
  sigset_t all, before;
  sigfillset(&all);
  // Signals that a thread causes itself must reach it: blocked, they end the process. SIGSYS is a sandbox's answer to a
  // system call (SECCOMP_RET_TRAP).
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  if (sigismember(&before, SIGPROF) == 1)
    sigaddset(&all, SIGPROF);  // for a thread of the program's, perhaps by sigwait
  if (backtraces_allowed()) sigdelset(&all, SIGURG);
  if (interrupt_signal() != 0) sigdelset(&all, interrupt_signal());
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = create(where);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    body_ = nullptr;
    if (in_turn) in_turn->refused(*turn_);
  }
  return error == 0;
}

void thread::join() noexcept {
  if (turns* const in_turn = turns::mine(); in_turn && turn_) in_turn->await_end(*turn_);
  pthread_join(handle_, nullptr);
}

void yield_thread() noexcept {
  if (turns* const all = turns::mine()) return all->pass();
  sched_yield();
}

namespace {
std::atomic<unsigned> generation{0};
void count_generation() { generation.fetch_add(1, std::memory_order_relaxed); }
// Before any thread: in the copy of a process none would end what another thread had begun at its first call.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, count_generation);
}  // namespace

void at_thread_end(void (*end)(void*), void* argument) noexcept {
  abi::__cxa_thread_atexit(end, argument, &forkjoin_v0_4_this_module);  // as a compiler does for a thread_local object
}

unsigned process_id() noexcept { return static_cast<unsigned>(getpid()); }

unsigned process_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}}}}  // namespace fj::v0_4::detail::os
