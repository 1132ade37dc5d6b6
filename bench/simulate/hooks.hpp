// What the runtime's scheduling rules work on in a simulation, in place of runtime/sched/hooks.hpp: what they do takes
// simulated time, and no rule of theirs stands here.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "bench/simulate/processor.hpp"
#include "bench/simulate/strand.hpp"
#include "bench/simulate/worker.hpp"
#include "runtime/sched/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Starts the workers: simulator.cpp.
struct threads {
  scheduler& whose;

  worker* start(waker) noexcept;
  void end_rest_of_monitor() noexcept {}
  bool heavy_fence() noexcept {
    os::heavy_fence();
    return true;
  }
};

/// No simulated strand waits for an event.
struct poller {
  void begin_wait() noexcept {}
  void end_wait() noexcept {}
  bool awaited() const noexcept { return false; }
  bool is_open() const noexcept { return false; }
  bool poll() noexcept { return false; }
};

struct scheduler_hooks {
  static bool handles_any(const os::exception_globals*) noexcept { return false; }
  static bool seems_empty(const auto& d) noexcept { return d.looks_empty(); }
  static void make_idle(processor& p) noexcept { p.count.begin_idle(os::now_ns()); }

  static void wake_polled(worker&, bool) noexcept {}
  /// No simulated strand keeps its P from another.
  static bool is_watched(worker&) noexcept { return false; }
  static void monitor_wakes_by(worker&, std::int64_t) noexcept {}

  // A woken thread goes on when it has been signalled.
  static void begin_placing(worker&) noexcept {}
  static void end_placing(worker&) noexcept {}
  static void placed(worker&) noexcept {}
  static void keep_off(worker&) noexcept {}

  static void place(worker& m, waker) noexcept {
    simulate::timeline& time = simulate::timeline::current();
    time.pass(time.price.wake);
    m.signal();
  }

  // strand.cpp
  static bool prepare_stack(worker& m) noexcept;
  static void release_all_stacks(worker& m, std::size_t but) noexcept;
  static fiber* begin(worker& m, const stolen_record& what) noexcept;
  static void note_begin(fiber&, std::int64_t) noexcept {}
  static bool refuse(worker&, job&) noexcept { std::abort(); }  // there is always a stack
  static fiber* switch_to(worker& m, fiber& f) noexcept;

  // A simulated strand waits at joins alone, and then its deque is empty.
  static void give_deque(worker&, deque&) noexcept {}
  static deque& take_spare_deque(processor&) noexcept { std::abort(); }
  static void make_runnable(fiber&) noexcept {}
};

}}}  // namespace fj::v0_4::detail

#include "runtime/sched/dispatcher.hpp"
