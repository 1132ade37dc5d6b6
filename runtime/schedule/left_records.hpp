// How the records of a fiber that waits leave their P, and how they come back.
//
// A fiber that leaves with records in its deque takes the deque along, and its marker in the ready queue stands for them
// (ready_queue.hpp). The story of a lost wake-up: a worker that parks reads the count of the ready queue after the marker
// was removed, and the active deque of the P before the records became that; it finds neither, and sleeps. So the worker
// on which the fiber goes on looks for sleepers after it made the records active.
#pragma once

#include <atomic>

#include "machine.hpp"

namespace fj::inline v0_1::detail {

template <scheduling_machine Machine>
struct basic_left_records {
  using deque = typename Machine::deque;
  using fiber = typename Machine::fiber;
  using worker = typename Machine::worker;

  /// The fiber has left its stack to wait, and the active deque of its P holds records: they go with the fiber, and `spare`,
  /// which is empty, becomes the active one. The worker looks at the ready queue next, or calls go_on_with_another.
  static void leave(worker& m, fiber& left, deque& spare) noexcept {
    auto& active = m.proc->active;
    left.records = active.load(std::memory_order_relaxed);
    m.sched().dispatcher().push_marker(left);
    active.store(&spare, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
  }

  /// After leave, if the worker goes on with another fiber, and not at the ready queue.
  static void go_on_with_another(worker& m) noexcept { m.sched().dispatcher().wake(); }

  /// The fiber goes on: what thieves left of its records becomes the active deque of the worker's P. Returns the one that was
  /// active before, which is empty; nullptr if the fiber has no records, and then all is as it was.
  static deque* take_back(worker& m, fiber& f) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    deque* const records = f.records ? dispatcher.take_back_records(f) : nullptr;
    if (!records) return nullptr;
    auto& active = m.proc->active;
    deque* const before = active.load(std::memory_order_relaxed);
    active.store(records, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
    // A worker that parks may have looked at the active deques before, and at the queue, where the marker was, after that.
    Machine::fence();
    if (!Machine::seems_empty(*records)) dispatcher.wake();
    return before;
  }
};

}  // namespace fj::inline v0_1::detail
