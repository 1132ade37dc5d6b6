// The loop of a worker: it finds work, runs it, and parks.
#pragma once

#include "../dispatcher.hpp"
#include "../machine.hpp"
#include "../ready_work.hpp"
#include "../search.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Asks of its machine besides: `switch_to(m, f)` runs f until it leaves its stack, and returns the fiber to run next, or
/// nullptr; `release_stacks(m, n)` leaves the P no more than n free stacks.
template <scheduling_machine Machine>
struct basic_worker_loop {
  using fiber = typename Machine::fiber;
  using ready_work = basic_ready_work<Machine>;
  using search = basic_search<Machine>;
  using worker = typename Machine::worker;

  /// The life of a thread of the runtime's own, which sleeps at first.
  static void run(worker& m, after_park next = after_park::sleep) noexcept {
    while (next != after_park::end) {
      if (next == after_park::sleep) {
        m.sleep();
        next = m.sched().dispatcher().awake(m);
        if (next == after_park::work) Machine::placed(m);
      } else {
        for (fiber* f = nullptr; m.proc && (f = search::find_work(m));) execute(m, f);
        next = park(m);
      }
    }
  }

  /// Runs `f`, and what follows from it, until there is nothing to follow.
  static void execute(worker& m, fiber* f) noexcept {
    if (!m.count().busy.runs()) m.count().begin_busy(Machine::now_ns());
    while (f) {
      m.proc->runs = m.proc->runs + 1;
      m.sched().dispatcher().attend_timers(m);
      f = Machine::switch_to(m, *f);
      if (!f && !m.proc) return;  // its strand came back from a blocking call, and no P is idle
      f = m.is_outside() ? ready_work::take_own_after(m, f) : ready_work::take_after(m, f);
    }
  }

 private:
  static after_park park(worker& m) noexcept {
    if (m.proc) Machine::release_stacks(m, 1);  // while the P is idle nothing could use the others
    return m.sched().dispatcher().park(m);
  }
};

}}}  // namespace fj::v0_2::detail
