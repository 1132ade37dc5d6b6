#include "runtime/os/thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <type_traits>

namespace fj::detail::os {

static_assert(std::is_same_v<pthread_t, unsigned long>);

void* thread::first_frame(void* self) noexcept {
  const auto* thread = static_cast<class thread*>(self);
  thread->body_(thread->argument_);
  return nullptr;
}

bool thread::start(void (*body)(void*) noexcept, void* argument) noexcept {
  body_ = body;
  argument_ = argument;
  // The application's asynchronous signals are for its own threads: ours start with them blocked.
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&handle_, nullptr, &thread::first_frame, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

void thread::join() noexcept { pthread_join(handle_, nullptr); }

void yield_thread() noexcept { sched_yield(); }

namespace {
std::atomic<unsigned> generation{0};
void count_generation() { generation.fetch_add(1, std::memory_order_relaxed); }
}  // namespace

unsigned process_generation() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, count_generation);
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace fj::detail::os
