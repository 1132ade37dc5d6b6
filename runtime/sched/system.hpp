// The machine that the runtime's scheduling templates run on: threads of the operating system, and its clock.
#pragma once

#include <cstdint>

#include "../os/clock.hpp"
#include "../os/context/context.hpp"
#include "../os/cpu.hpp"
#include "../os/machine.hpp"
#include "../os/thread.hpp"
#include "machine.hpp"
#include "poller.hpp"
#include "threads.hpp"
#include "worker.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// A scheduling_machine.
struct system : machine {
  using deque = detail::deque;
  using fiber = detail::fiber;
  using poller = detail::poller;
  using processor = detail::processor;
  using processors = detail::processors;
  using root = detail::root;
  using threads = detail::threads;
  using worker = detail::worker;

  static std::int64_t now_ns() noexcept { return os::now_ns(); }
  static void pause() noexcept { os::pause(); }
  static void yield_thread() noexcept { os::yield_thread(); }
  static void sleep_ns(std::int64_t time) noexcept { os::sleep_ns(time); }

  static bool handles_any(const os::exception_globals* of_thread) noexcept { return os::handles_any(of_thread); }
  static bool seems_empty(const auto& d) noexcept { return detail::seems_empty(d); }

  static void make_idle(processor& p) noexcept {
    FORKJOIN_CHECK(seems_empty(*p.active.load(std::memory_order_relaxed)));
    FORKJOIN_CHECK(p.queue.empty());
    p.count.begin_idle(os::now_ns());
  }

  static os::exception_globals& between_handlers() noexcept { return os::between_handlers; }

  // The way onto a fiber's stack, and the stacks and deques of the worker's P: switch.cpp, switch.cpp.
  static bool prepare_stack(worker& m) noexcept;
  static fiber* begin(worker& m, const deque::stolen_record& what) noexcept;
  static void refuse(worker& m, root& r) noexcept;
  static void give_deque(worker& m, deque& empty) noexcept;
  static deque& take_spare_deque(processor& p) noexcept;
  static void replace_active_deque(worker& m) noexcept;
  static void release_stacks(worker& m, std::size_t but) noexcept;
  static void detach_stacks(worker& m, fiber& left) noexcept;
  static void trim_unused(fiber& left) noexcept;
  static fiber* switch_to(worker& m, fiber& f) noexcept;
  static bool prepare_to_wait(worker& m) noexcept;
  static void make_runnable(fiber& f) noexcept;

  static void wake_polled(worker& m, bool holds_processor) noexcept;

  // Which processor of the machine a woken thread gets takes system calls, so it is settled without the dispatcher's mutex.
  // A caller of run that is woken meanwhile waits, as its thread may end when it goes on.

  static void begin_placing(worker& m) noexcept { m.placers.fetch_add(1, std::memory_order_relaxed); }

  static void place(worker& m, waker then) noexcept {
    if (then == waker::sleeps) {
      m.thread.leave_it_this_processor();
    } else {
      m.thread.keep_off_this_processor();
    }
    m.signal();
    end_placing(m);
  }

  static void keep_off(worker& m) noexcept { m.thread.keep_off_this_processor(); }

  // release: pairs with the acquire in placed
  static void end_placing(worker& m) noexcept { m.placers.fetch_sub(1, std::memory_order_release); }

  static void placed(worker& m) noexcept {
    while (m.placers.load(std::memory_order_acquire) != 0) os::yield_thread();
    m.thread.use_all_processors();
  }
};

}}}  // namespace fj::v0_2::detail
