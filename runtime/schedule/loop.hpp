// What a worker does all day: it finds work, runs it, and parks.
#pragma once

#include <utility>

#include "../base/tuning.hpp"
#include "dispatcher.hpp"
#include "machine.hpp"
#include "search.hpp"

namespace fj::inline v0_1::detail {

/// Asks of its machine besides: `switch_to(m, f)` runs f until it leaves its stack, and returns the fiber to run next, or
/// nullptr; `release_stacks(m, n)` leaves the P no more than n free stacks; `woken(m)` follows a sleep.
template <scheduling_machine Machine>
struct basic_worker_loop {
  using fiber = typename Machine::fiber;
  using search = basic_search<Machine>;
  using worker = typename Machine::worker;

  /// The life of a thread of the runtime's own, which sleeps at first.
  static void run(worker& m) noexcept {
    for (auto next = after_park::sleep; next != after_park::end; next = park(m)) {
      if (next == after_park::sleep) {
        m.sleep();
        Machine::woken(m);
      }
      if (!m.proc) continue;  // signalled to end: park says so
      while (fiber* const f = search::find_work(m)) execute(m, f);
    }
  }

  /// Runs `f`, and what follows from it, until there is nothing to follow.
  static void execute(worker& m, fiber* f) noexcept {
    if (!m.count().busy.runs()) m.count().begin_busy(Machine::now_ns());
    while (f) {
      f = Machine::switch_to(m, *f);
      // A chain of fibers that resume each other must not keep out what waits. A caller runs nothing but its own root.
      if (!f || m.is_outside() || ++m.proc->tick % tuning::ticks_per_look != 0) continue;
      if (fiber* const first = search::take_ready(m, nullptr)) m.sched().dispatcher().ready(*std::exchange(f, first));
    }
  }

 private:
  static after_park park(worker& m) noexcept {
    if (m.proc) Machine::release_stacks(m, 1);  // while the P is idle nothing could use the others
    return m.sched().dispatcher().park(m);
  }
};

}  // namespace fj::inline v0_1::detail
