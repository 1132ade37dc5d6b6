// The machine that the runtime's scheduling templates run on in a simulation: what they do takes simulated time, and no rule
// of theirs stands here. runtime/sched/system.hpp is the real one.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "bench/simulate/machine.hpp"
#include "bench/simulate/processor.hpp"
#include "bench/simulate/strand.hpp"
#include "bench/simulate/worker.hpp"
#include "runtime/sched/machine.hpp"

namespace simulate {

/// Starts the workers: simulator.cpp.
struct threads {
  simulation& whose;

  worker* start() noexcept;
};

/// No simulated strand waits for an event.
struct no_poller {
  void begin_wait() noexcept {}
  void end_wait() noexcept {}
  bool awaited() const noexcept { return false; }
  bool is_open() const noexcept { return false; }
  bool poll() noexcept { return false; }
};

/// No simulated strand keeps its P from another.
struct no_monitor {
  bool watch() noexcept { return false; }
};

/// A scheduling_machine.
struct system : machine {
  using deque = simulate::deque;
  using fiber = simulate::fiber;
  using poller = no_poller;
  using processor = simulate::processor;
  using processors = simulate::processors;
  using root = simulate::root;
  using threads = simulate::threads;
  using worker = simulate::worker;

  static std::int64_t now_ns() noexcept { return timeline::current().now_ns(); }

  static void pause() noexcept {
    timeline& time = timeline::current();
    time.pass(time.price.round);
  }

  /// No other thread wants the processor.
  static void yield_thread() noexcept {}

  static void sleep_ns(std::int64_t time) noexcept { timeline::current().pass(1000 * time); }

  static bool handles_any(const fj::detail::os::exception_globals*) noexcept { return false; }
  static bool seems_empty(const auto& d) noexcept { return d.looks_empty(); }
  static void make_idle(processor& p) noexcept { p.count.begin_idle(now_ns()); }

  static void wake_polled(worker&, bool) noexcept {}

  // A woken thread goes on when it has been signalled.
  static void begin_placing(worker&) noexcept {}
  static void end_placing(worker&) noexcept {}
  static void placed(worker&) noexcept {}
  static void keep_off(worker&) noexcept {}

  static void place(worker& m, fj::detail::waker) noexcept {
    timeline& time = timeline::current();
    time.pass(time.price.wake);
    m.signal();
  }

  // strand.cpp
  static bool prepare_stack(worker& m) noexcept;
  static void release_stacks(worker& m, std::size_t but) noexcept;
  static fiber* begin(worker& m, const deque::stolen_record& what) noexcept;
  static void refuse(worker&, root&) noexcept { std::abort(); }  // there is always a stack
  static fiber* switch_to(worker& m, fiber& f) noexcept;

  /// A simulated strand never leaves records behind.
  static void give_deque(worker&, deque&) noexcept {}
};

}  // namespace simulate
