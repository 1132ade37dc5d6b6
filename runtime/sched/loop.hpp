// The loop of a worker: it finds work, runs it, and parks.
#pragma once

#include <atomic>

#include "runtime/sched/dispatcher.hpp"
#include "runtime/sched/find.hpp"
#include "runtime/sched/local_queue.hpp"
#include "runtime/trace/emit.hpp"

#ifndef FORKJOIN_MACHINE
#include "runtime/sched/switch_to.hpp"
#endif

namespace fj { inline namespace v0_4 { namespace detail {

struct worker_loop {
  /// The life of a thread of the runtime's own, which sleeps at first.
  static void run(worker& m, after_park next = after_park::sleep) noexcept {
    while (next != after_park::end) {
      if (next == after_park::sleep) {
        m.sleep();
        next = m.sched().dispatcher().awake(m);
        if (next == after_park::work) scheduler_hooks::placed(m);
      } else {
        for (fiber* f = nullptr; m.proc && (f = work_search::find_work(m));) execute(m, f);
        next = park(m);
      }
    }
  }

  /// Runs `f`, and what follows from it, until there is nothing to follow, or until m has given its P up.
  static void execute(worker& m, fiber* f) noexcept {
    if (!m.count().busy.runs()) {
      m.count().begin_busy(os::now_ns());
      emit_event(m, event::busy);
    }
    while (f) {
      if (m.sched().dispatcher().has_surplus()) [[unlikely]]
        return retire(m, *f);
      m.proc->runs = m.proc->runs + 1;
      m.sched().dispatcher().attend_timers(m);
      local_queue::begin_run(m, *f);
      f = scheduler_hooks::switch_to(m, *f);
      if (!f && !m.proc) return;  // its strand came back from a blocking call, and no P is idle
      if (m.proc->urgent.runs()) [[unlikely]]
        m.sched().dispatcher().end_urgent(*m.proc);
      f = m.is_caller() ? ready_work::take_own_after(m, f) : ready_work::take_after(m, f);
    }
  }

 private:
  // More P are held than are to be in use: `f` is for others, and so is what else is ready on this P.
  [[gnu::cold, gnu::noinline]] static void retire(worker& m, fiber& f) noexcept {
    const bool was_first = m.proc->urgent.runs();
    m.sched().dispatcher().end_urgent(*m.proc);
    was_first ? m.sched().dispatcher().ready_urgent(f, nullptr) : m.sched().dispatcher().ready(f);
    scheduler_hooks::release_all_stacks(m, 0);
    m.sched().dispatcher().hand_over(m, waker::sleeps);
  }

  static after_park park(worker& m) noexcept {
    if (m.proc) scheduler_hooks::release_all_stacks(m, 1);  // while the P is idle nothing could use the others
    return m.sched().dispatcher().park(m);
  }
};

// The loop of a caller, a thread that called run: it works for the job that it brought until that job is over, and
// for no other job.

struct caller_loop {
  /// Runs the job that begins with `first`, with a P or by others. Returns when the job is over, without a P. The
  /// job's `caller` is m, and m's `brought` the job.
  static void run(job& brought, worker& m, fiber& first) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    dispatcher.ask_for_threads_again();
    fiber* next = dispatcher.enter(m, first, !m.sched().settings().in_turns);
    for (;;) {
      if (next) worker_loop::execute(m, next);
      // acquire: pairs with the release in dispatcher.hpp: finish
      if (brought.done.load(std::memory_order_acquire)) break;
      // A strand that yielded would be found first again, though others wait for the P.
      const bool gives_way = m.yielded.replace(false) && dispatcher.lacks_processor();
      next = m.proc && !gives_way ? work_search::find_work_of(brought, m) : nullptr;
      if (next) continue;
      if (m.proc) hand_over(m);
      dispatcher.sleep_for(brought, m);
    }
    if (m.proc) leave(m);
  }

  /// A fiber has left to let others run: it is ready, behind them. Returns nullptr, so its worker looks for the next.
  static fiber* yield(worker& m, fiber& f) noexcept {
    m.yielded = true;
    scheduler_hooks::make_runnable(f);
    m.sched().dispatcher().ready(f);
    return nullptr;
  }

  /// The job of a caller ends on the worker `m`.
  static void end(job& over, worker& m) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    // This worker looks for work next. The caller finds it spinning when it gives its P up, skips its own look at the
    // deques, and returns sooner.
    if (over.caller != &m) dispatcher.start_spinning(m);
    dispatcher.finish(over, m);
  }

 private:
  static void hand_over(worker& m) noexcept {
    scheduler_hooks::release_all_stacks(m, 0);
    m.sched().dispatcher().hand_over(m, waker::sleeps);
  }

  static void leave(worker& m) noexcept {
    scheduler_hooks::release_all_stacks(m, 0);  // a job that never forks leaves none behind
    m.sched().dispatcher().leave(m);
  }
};

}}}  // namespace fj::v0_4::detail
