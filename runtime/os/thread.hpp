// Threads of the operating system.
#pragma once

#include <sched.h>

#include <atomic>

namespace fj::inline v0_1::detail::os {

/// An OS thread that must be joined. Unlike std::thread, failing to start is a result and not an exception.
///
/// It can be told to wake up on another processor than its waker's. Kernels often put a woken thread behind the one that
/// woke it, as if that were about to sleep, and move it only at a later tick: on a virtual machine with a core idle, two
/// milliseconds later.
class thread {
 public:
  /// Runs body(argument) on a new thread, kept off the calling thread's processor. False when the system refuses one.
  [[nodiscard]] bool start(void (*body)(void*) noexcept, void* argument) noexcept;
  void join() noexcept;
  bool started() const noexcept { return body_ != nullptr; }

  /// Takes the calling thread for this one, though it was not started here: it can be kept off a processor, not joined.
  void adopt_caller() noexcept;

  /// For whoever is about to wake the thread, which sleeps: keeps it off the caller's processor, if it may use others.
  void keep_off_this_processor() noexcept;

  /// For whoever is about to wake the thread, which sleeps, and to sleep itself: leaves it the caller's processor.
  void leave_it_this_processor() noexcept;

  /// For the thread itself, when it runs: it may use all processors again that it could before.
  void use_all_processors() noexcept;

 private:
  static void* first_frame(void* self) noexcept;
  bool narrow(cpu_set_t& to) noexcept;
  void wake_on(bool here) noexcept;

  unsigned long handle_ = 0;
  void (*body_)(void*) noexcept = nullptr;
  void* argument_ = nullptr;
  std::atomic<int> id_{0};
  bool narrowed_ = false;
  cpu_set_t allowed_;  // before it was narrowed
};

/// Gives the rest of this thread's time slice to others.
void yield_thread() noexcept;

/// How often this process has been forked(2), counted in the child: a runtime made before has lost its threads.
unsigned process_generation() noexcept;

}  // namespace fj::inline v0_1::detail::os
