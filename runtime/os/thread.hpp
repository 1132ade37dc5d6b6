// Threads of the operating system.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "runtime/os/turns.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// On which CPU a thread is to run first, as the thread that starts or wakes it sees it. `here` if that one will sleep
/// next.
enum class placement { elsewhere, here };

/// An OS thread that must be joined. Unlike std::thread, failing to start is a result and not an exception.
///
/// The waker can make it wake up on another CPU than its own. Kernels often put a woken thread behind its waker,
/// as if the waker were about to sleep, and move it only at a later tick: on a virtual machine with a core idle, two
/// milliseconds later.
class thread {
 public:
  /// Runs body(argument) on a new thread, kept off the calling thread's CPU or on that one. False when the system
  /// refuses one.
  [[nodiscard]] bool start(void (*body)(void*) noexcept, void* argument,
                           placement where = placement::elsewhere) noexcept;
  void join() noexcept;
  bool started() const noexcept { return body_ != nullptr; }

  /// The system's number of it; 0 before adopt_caller.
  int id() const noexcept { return id_.load(std::memory_order_relaxed); }

  /// Makes this object stand for the calling thread: the one that it has started, or another, which can be kept off a
  /// CPU, not joined.
  void adopt_caller() noexcept;

  /// Called by the waker, before it wakes this thread, which sleeps: keeps it off the waker's CPU, if it may use
  /// others.
  void keep_off_this_cpu() noexcept;

  /// Called by a waker that will sleep next, before it wakes this thread, which sleeps: leaves it the waker's
  /// CPU.
  void leave_it_this_cpu() noexcept;

  /// Called by the thread itself when it runs: it may use all CPUs again that it could use before.
  void use_all_cpus() noexcept;

 private:
  static void* first_frame(void* self) noexcept;
  int create(placement where) noexcept;
  void wake_on(placement where) noexcept;

  pthread_t handle_{};
  void (*body_)(void*) noexcept = nullptr;
  void* argument_ = nullptr;
  std::atomic<int> id_{0};
  turns::taker* turn_ = nullptr;
  bool narrowed_ = false;
  unsigned long allowed_[16] = {};  // before it was narrowed: a set of CPUs, where the system can choose some
};

/// Names the calling thread for gdb, top and the like: the text and the number, 15 characters of them.
void name_thread(const char* text, unsigned number) noexcept;

/// The calling thread's sleeps end in time, for a thread that works for a few microseconds after each: otherwise Linux
/// lets them last up to 50 us longer, to save wake-ups; and if all CPUs are busy, lets the thread wait for some
/// milliseconds.
void wake_in_time() noexcept;
/// For a thread that one of those has started: as threads are otherwise.
void wake_as_usual() noexcept;

/// How many threads the process has, those of others than the runtime with them. 0: the system does not say.
unsigned count_threads() noexcept;

/// Of the threads that the process has now, since they began, in nanoseconds. Zeros: the system does not say.
struct cpu_time {
  std::uint64_t ran = 0;
  std::uint64_t queued = 0;  ///< a thread was ready to run, and other threads had the CPUs
};
/// Reads a file for each thread.
cpu_time time_of_threads() noexcept;

/// Whether there are so many, by a slower way that relies on less.
bool are_threads(unsigned count) noexcept;

/// From now on each fork(2) calls these: `before` it, and `after` it in the parent process or `in_child` in the child.
/// True, so that a variable can have it done before main.
bool at_fork(void (*before)(), void (*after)(), void (*in_child)()) noexcept;

/// Has the calling thread call end(argument) when it ends, the main thread in exit: also if the destructors of its
/// thread_local objects run already. Those that were asked for last are called first.
void at_thread_end(void (*end)(void*), void* argument) noexcept;

/// The system's number of this process.
unsigned process_id() noexcept;

/// How many calls of fork(2) lie between the first process and this one. A runtime that was made before such a call has
/// lost its threads.
unsigned process_generation() noexcept;

}}}}  // namespace fj::v0_4::detail::os
