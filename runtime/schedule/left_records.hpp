// How the records of a fiber that waits leave their P, and how they come back.
//
// A fiber that leaves with records in its deque takes the deque along. Its marker in the ready queue represents these records
// (ready_queue.hpp). The wake-up that would be lost: the fiber goes on, and takes its marker out of the queue. A worker that
// parks reads the count of the ready queue after that, and the active deque of the P before the fiber's deque becomes the
// active one. It finds neither the marker nor the records, and sleeps. So the worker on which the fiber goes on first makes the
// records active, and then looks for sleeping workers.
#pragma once

#include <atomic>

#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Asks of its machine besides: `take_spare_deque(m)` is an empty deque that the P has set aside.
template <scheduling_machine Machine>
struct basic_left_records {
  using deque = typename Machine::deque;
  using fiber = typename Machine::fiber;
  using worker = typename Machine::worker;

  /// The fiber has left its stack to wait. Records in the active deque of the P go with it, and an empty deque becomes the active
  /// one. Then the wait may end at any time: `then()` says which fiber goes on on this worker, or nullptr, and leave returns that.
  template <class Then>
  static fiber* leave(worker& m, fiber& left, Then then) noexcept {
    auto& active = m.proc->active;
    deque* const records = active.load(std::memory_order_relaxed);
    const bool has_records = !Machine::seems_empty(*records);
    if (has_records) {
      left.records = records;
      m.sched().dispatcher().push_marker(left);
      // release: pairs with the acquire in for_each_deque
      active.store(&Machine::take_spare_deque(m), std::memory_order_release);
    }
    fiber* const next = then();
    // With another fiber to run, the worker does not look at the ready queue, where the marker is.
    if (next && has_records) m.sched().dispatcher().wake();
    return next;
  }

  /// The fiber goes on: what thieves left of its records becomes the active deque of the worker's P. Returns the one that was
  /// active before, which is empty; nullptr if the fiber has no records, and then all is as it was.
  static deque* take_back(worker& m, fiber& f) noexcept {
    deque* const records = f.records ? m.sched().dispatcher().take_back_records(f) : nullptr;
    return records ? &activate(m, *records) : nullptr;
  }

  /// The records with which a fiber goes on become the active deque of the worker's P. Returns the one before.
  static deque& activate(worker& m, deque& records) noexcept {
    auto& active = m.proc->active;
    deque& before = *active.load(std::memory_order_relaxed);
    active.store(&records, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
    // A worker that parks may have looked at the active deques before, and at the ready queue, where the fiber was, after that.
    Machine::fence();
    if (!Machine::seems_empty(records)) {
      m.sched().dispatcher().wake();
    } else {  // a leapfrogging thief was faster: it wakes nobody, and that worker's alarm did not reach this deque
      records.alarm();
    }
    return before;
  }
};

}}}  // namespace fj::v0_2::detail
