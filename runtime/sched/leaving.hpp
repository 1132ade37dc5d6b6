// The active deque of a P when a fiber leaves it, to wait or to give way, and when a fiber goes on there.
//
// A fiber that leaves with records in its deque takes the deque along. Others reach these records in one of two ways:
//
//   waits       by the fiber's marker in the ready queue (queues.hpp). Any worker may take the records while the fiber
//               waits.
//   gives way   by the fiber itself, which is ready: the worker that runs it gets its records, too. So with one P no
//               continuation starts before its turn because its strand gave way. Until then no worker has them.
//
// The wake-up that would be lost: a worker that parks finds neither the marker, nor the ready fiber, nor the records,
// and sleeps. Against it:
//
// 1. A fiber that waits pushes its marker before its deque leaves the P. A fiber that gives way becomes ready after its
//    deque has left the P; that wakes a worker.
// 2. A fiber that goes on has left the ready queue, or its marker has. A worker that parks may read the count of that
//    queue after that, and the active deque of the P before the fiber's deque becomes the active one. So the worker on
//    which the fiber goes on first makes the records active, and then looks for sleeping workers.
#pragma once

#include <atomic>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// On native stacks.
struct active_deque {
  /// A fiber has left its stack, and the worker may have lost its P: calls m.then, by which the wait of the fiber may
  /// end, and returns the fiber that continues on this worker, or nullptr. Before that, records in the active deque
  /// leave with the fiber.
  static fiber* leave(worker& m, fiber& left) noexcept {
    const auto then = [&m, &left]() -> fiber* {
      fiber* const next = m.then(m, left, m.argument);
      if (next == &left) scheduler_hooks::make_runnable(left);  // what it waited for was there
      return next;
    };
    if (!m.proc) return then();            // after a blocking call: its records are with its marker
    left.whose = active(*m.proc).whose();  // a scope's child does not know yet
    {
      const os::unseen_by_detector of_its_job;  // which lives at least until the wait ends
      left.urgent = left.whose->urgent;
    }
    scheduler_hooks::detach_stacks(m, left);
    if (!m.carries.replace(false)) return leave_records(m, left, then);
    // The fiber gives way. Its private records stay private: a thief that would force them finds the thread between
    // handlers, and takes none (preemption.hpp: prepare). A thief that looks at the deque still may take what is
    // public.
    detach_records(*m.proc, [&left](deque& records) { left.carried = &records; });
    return then();
  }

  /// The fiber waits: its records leave with its marker. Then the wait may end at any time: then() says which fiber
  /// continues on this worker, or nullptr, and leave_records returns that.
  template <class Then>
  static fiber* leave_records(worker& m, fiber& left, Then then) noexcept {
    const bool has_records = detach_records(*m.proc, [&](deque& records) {
      left.records = &records;
      m.sched().dispatcher().push_marker(left);
    });
    scheduler_hooks::trim_unused(left);
    fiber* const next = then();
    // With another fiber to run, the worker does not look at the ready queue, where the marker is.
    if (next && has_records) m.sched().dispatcher().wake();
    return next;
  }

  /// The deque that the fiber goes on with becomes the active one of the worker's P.
  static void install(worker& m, fiber& f) noexcept {
    deque* records = f.carried.replace(nullptr);
    if (!records && f.records) records = take_back(m, f);
    if (records) {
      activate(m, *records);
      return;
    }
    if (!active(*m.proc).has_capacity()) scheduler_hooks::replace_active_deque(m);
    active(*m.proc).open(f.whose);
  }

 private:
  static deque& active(processor& p) noexcept { return *p.active.load(std::memory_order_relaxed); }

  // What thieves left of the records of a fiber that waited, if anything.
  static deque* take_back(worker& m, fiber& f) noexcept { return m.sched().dispatcher().take_back_records(f); }

  static void activate(worker& m, deque& records) noexcept {
    deque& before = active(*m.proc);
    // release: pairs with the acquire in processors.hpp: deque_of
    m.proc->active.store(&records, std::memory_order_release);
    // A worker that parks may have looked at the active deques before, and at the ready queue, where the fiber was,
    // after that. Store active, then load idle and spinning: pairs with the fence in parking.hpp: nothing_left.
    os::fence();
    if (!scheduler_hooks::seems_empty(records)) {
      m.sched().dispatcher().wake();
    } else {  // a leapfrogging thief was faster: it wakes no worker, and the parking one's request missed this deque
      records.request();
    }
    scheduler_hooks::give_deque(m, before);
  }
};

}}}  // namespace fj::v0_4::detail
