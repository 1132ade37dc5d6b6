// What the scheduling rules of this folder work on: workers, P, fibers, jobs, the poller; and the steps that they ask
// for.
//
// The model checks and the simulator have all of these of their own (test/model/scheduler.hpp,
// bench/simulate/hooks.hpp), and compile the rules themselves with them: dispatcher.hpp, find.hpp, leaving.hpp,
// loop.hpp, owner.hpp, parking.hpp, preemption.hpp, queues.hpp, ...
#pragma once

namespace fj { inline namespace v0_4 { namespace detail {

/// What the thread that wakes another does next: which CPU is free for the other depends on it.
enum class waker { goes_on, sleeps };

}}}  // namespace fj::v0_4::detail

#ifndef FORKJOIN_MACHINE

#include <cstdint>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/context/context.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/poller.hpp"
#include "runtime/sched/threads.hpp"
#include "runtime/sched/worker.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct scheduler_hooks {
  static bool handles_any(const os::exception_globals* of_thread) noexcept { return os::handles_any(of_thread); }
  /// Looks at a deque without ordering anything for a race detector.
  static bool seems_empty(const auto& d) noexcept { return detail::seems_empty(d); }

  /// For each P that is put among the idle.
  static void make_idle(processor& p) noexcept {
    FORKJOIN_CHECK(seems_empty(*p.active.load(std::memory_order_relaxed)));
    FORKJOIN_CHECK(p.queue.empty());
    p.count.begin_idle(os::now_ns());
    emit_idle(p);
  }

  static os::exception_globals& between_handlers() noexcept { return os::between_handlers; }

  // The way onto a fiber's stack, and the stacks and deques of the worker's P: switch.cpp.

  /// Has a stack at hand for what m steals; false if there is no memory.
  static bool prepare_stack(worker& m) noexcept;
  /// Then: a fiber that begins with that record, or with its job if there is none.
  static fiber* begin(worker& m, const stolen_record& what) noexcept;
  /// It was stolen at that time.
  static void note_begin(fiber& thief, std::int64_t now) noexcept { thief.begun_at = now; }
  /// Ends a job that has no stack to begin on; false if it waits for one, in the ready queue.
  static bool refuse(worker& m, job& r) noexcept;
  /// Runs f until it leaves its stack. Returns the fiber to run next, or nullptr.
  static inline fiber* switch_to(worker& m, fiber& f) noexcept;  // switch_to.hpp
  /// Takes back a deque that thieves emptied.
  static void give_deque(worker& m, deque& empty) noexcept;
  /// Has an empty deque and a stack at hand for the next strand of the P; false if there is no memory.
  static bool prepare_to_wait(worker& m) noexcept;
  /// The empty deque that the P has set aside.
  static deque& take_spare_deque(processor& p) noexcept;
  /// Tries to get another deque for one that has no room for public records.
  static void replace_active_deque(worker& m) noexcept;
  /// Leaves the P no more than so many free stacks, and no small ones.
  static void release_all_stacks(worker& m, std::size_t but) noexcept;
  /// Takes the free stacks of a leaving fiber from it.
  static void detach_stacks(worker& m, fiber& left) noexcept;
  /// Gives the unused part of its stack back.
  static void trim_unused(fiber& left) noexcept;
  /// Notes the state of a fiber.
  static void make_runnable(fiber& f) noexcept;

  /// Wakes what m.polled holds: if m holds no P, for any worker.
  static void wake_polled(worker& m, bool holds_processor) noexcept;

  /// Whether a monitor looks into the poller while all workers compute.
  static bool is_watched(worker& m) noexcept;

  /// Has that monitor serve a timer that is due at that time, if all workers compute then.
  static void monitor_wakes_by(worker& m, std::int64_t time) noexcept;

  // Which CPU of the machine a woken thread gets takes system calls, so it is settled without the dispatcher's
  // mutex. A caller of run that is woken meanwhile waits, as its thread may end when it goes on.

  /// With the dispatcher's mutex; place follows without it: it chooses a CPU for m, signals m, and lets it go on.
  static void begin_placing(worker& m) noexcept { m.placers.fetch_add(1, std::memory_order_relaxed); }

  static void place(worker& m, waker then) noexcept {
    if (then == waker::sleeps) {
      m.thread.leave_it_this_cpu();
    } else if (worker* const wakes = current_worker();
               !wakes || !wakes->is_caller() || !wakes->pace.wakes(os::now_ns())) {
      m.thread.keep_off_this_cpu();
    }
    m.signal();
    end_placing(m);
  }

  static void keep_off(worker& m) noexcept { m.thread.keep_off_this_cpu(); }

  // release: pairs with the acquires in placed and in threads.cpp: join
  static void end_placing(worker& m) noexcept { m.placers.fetch_sub(1, std::memory_order_release); }

  // acquire: pairs with the release in end_placing
  static void placed(worker& m) noexcept {
    while (m.placers.load(std::memory_order_acquire) != 0) os::yield_thread();
    m.thread.use_all_cpus();
  }
};

}}}  // namespace fj::v0_4::detail

#endif
