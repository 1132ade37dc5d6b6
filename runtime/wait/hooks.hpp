// The steps that waits are made of: how a strand leaves its stack, how it is made runnable, and its timer.
//
// The model checks have steps of their own (test/model/waits.hpp), and compile the waits themselves with them:
// waiter.cpp, wait_queue.cpp, channel.hpp, select_protocol.hpp, mutex_protocol.cpp, ...
#pragma once

#ifndef FORKJOIN_MACHINE

#include <cstdint>
#include <stop_token>

#include "runtime/fork/runnable.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/stacks/wait_place.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct fiber;
class scheduler;
struct worker;

struct wait_hooks {
  /// Sets aside what the calling strand takes to leave its stack and to arm a timer, and returns its scheduler, or
  /// nullptr for a thread outside. Throws std::bad_alloc if the system refuses memory.
  static scheduler* prepare_to_wait(std::int64_t until);
  /// The same once more, without the timer; false if there is no memory.
  static bool prepare_again() noexcept;
  /// Arms a timer, and returns the heap where.
  static timer_heap& arm(timer& t) noexcept;
  /// then(worker, fiber, argument) is called when the context of the running strand has been saved, and returns the
  /// strand that goes on in its place, or nullptr. Returns when another strand has resumed this one, perhaps on another
  /// worker.
  static inline void suspend(scheduler& of, const wait_place& place, fiber* (*then)(worker&, fiber&, void*) noexcept,
                             void* argument) noexcept;
  /// Makes a strand that has left runnable.
  static void resume(scheduler& of, fiber& f, turn when) noexcept;
  /// By a strand that was asked to stop.
  static void come_after_stop() noexcept;
  /// By a thread outside: returns when the word is no longer 0. acquire: pairs with the release in waiter.cpp:
  /// wake_waiter.
  static void sleep_for_good(std::atomic<std::uint32_t>& word, const wait_place& place) noexcept;
  /// Below n.
  static unsigned random_below(unsigned n) noexcept;

  /// Lives while a thread outside waits for a limit, too.
  using outside_for_more = waits_outside_for_more;

  template <class F>
  using stop_callback = std::stop_callback<F>;
};

}}}  // namespace fj::v0_2::detail

#endif
