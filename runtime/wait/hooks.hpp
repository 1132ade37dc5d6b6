// The steps that waits are made of: how a strand leaves its stack, how it is made runnable, and its timer.
//
// The model checks have steps of their own (test/model/waits.hpp), and compile the waits themselves with them:
// waiter.cpp, wait_queue.cpp, channel.hpp, select_protocol.hpp, mutex_protocol.cpp, ...
#pragma once

#include <concepts>
#include <cstdint>
#include <stop_token>

#include "forkjoin/abi/timer.hpp"
#include "runtime/os/contract.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/stacks/wait_place.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
class scheduler;
struct worker;

/// What a machine must offer beside what rules of the scheduler ask for, to fence_by_signal.hpp, too: sleeps and
/// interrupts. Simulated workers have neither.
template <template <class> class Atomic, class Mutex>
concept machine_for_waits =
    machine_for_rules<Atomic, Mutex> && requires(Atomic<std::uint32_t>& word, std::uint32_t expected,
                                                 std::int64_t until, int thread, void (*answer)(void*) noexcept) {
      os::futex_wait(word, expected);
      { os::futex_wait_until(word, expected, until) } -> std::same_as<bool>;
      os::futex_wake(word);
      os::on_interrupt(answer, nullptr);
      os::interrupt(thread);
      { os::blocks_interrupts() } -> std::same_as<bool>;
      { os::this_thread() } -> std::same_as<int>;
    };

/// What the steps must offer; the library's, below, say what each does.
template <class Hooks>
concept hooks_for_waits = requires(
    scheduler& of, fiber& f, timer& t, const wait_place& place, fiber* (*then)(worker&, fiber&, void*) noexcept,
    void* argument, os::atomic<std::uint32_t>& word, std::int64_t until, precedence its, unsigned limit) {
  { Hooks::prepare_to_wait(until) } -> std::same_as<scheduler*>;
  { Hooks::prepare_again(until) } -> std::same_as<bool>;
  { Hooks::arm(t) } -> std::same_as<timer_heap&>;
  Hooks::suspend(of, place, then, argument);
  Hooks::resume(of, f, its);
  Hooks::come_after_stop();
  Hooks::sleep_for_good(word, place);
  { Hooks::random_below(limit) } -> std::same_as<unsigned>;
  typename Hooks::outside_for_more;
  requires std::constructible_from<typename Hooks::template stop_callback<void (*)()>, const std::stop_token&,
                                   void (*)()>;
};

}}}  // namespace fj::v0_4::detail

#ifndef FORKJOIN_MACHINE

#include "runtime/fork/runnable.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct wait_hooks {
  /// Sets aside what the calling strand takes to leave its stack and to arm a timer, and returns its scheduler, or
  /// nullptr for a thread outside. Throws std::bad_alloc if the system refuses memory.
  static scheduler* prepare_to_wait(std::int64_t until);
  /// The same once more, as the strand may have moved to another P; false if there is no memory.
  static bool prepare_again(std::int64_t until) noexcept;
  /// Arms a timer, and returns the heap where.
  static timer_heap& arm(timer& t) noexcept;
  /// then(worker, fiber, argument) is called when the context of the running strand has been saved, and returns the
  /// strand that goes on in its place, or nullptr. Returns when another strand has resumed this one, perhaps on another
  /// worker.
  static inline void suspend(scheduler& of, const wait_place& place, fiber* (*then)(worker&, fiber&, void*) noexcept,
                             void* argument) noexcept;
  /// Makes a strand that has left runnable.
  static void resume(scheduler& of, fiber& f, precedence its) noexcept;
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

static_assert(machine_for_waits<os::atomic, os::mutex>);
static_assert(hooks_for_waits<wait_hooks>);

}}}  // namespace fj::v0_4::detail

#endif
