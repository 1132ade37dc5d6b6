// The active deque of a P when a fiber leaves it, to wait or to give way, and when a fiber goes on there.
//
// A fiber that leaves with records in its deque takes the deque along. Others reach these records in one of two ways:
//
//   waits       by the fiber's marker in the ready queue (queues.hpp). Any worker may take the records while the fiber waits.
//   gives way   by the fiber itself, which is ready: the worker that runs it gets its records, too. So with one P no continuation
//               starts before its turn because its strand gave way. Until then nobody has them.
//
// The wake-up that would be lost: a worker that parks finds neither the marker, nor the ready fiber, nor the records, and sleeps.
// Against it:
//
// 1. A fiber that waits pushes its marker before its deque leaves the P. A fiber that gives way becomes ready after its deque has
//    left the P; that wakes a worker.
// 2. A fiber that goes on has left the ready queue, or its marker has. A worker that parks may read the count of that queue
//    after that, and the active deque of the P before the fiber's deque becomes the active one. So the worker on which the fiber goes
//    on first makes the records active, and then looks for sleeping workers.
#pragma once

#include <atomic>

#include "system.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// On native stacks.
struct active_deque {
  /// Records in the active deque leave the P: keep(deque) says where they go, and then an empty deque becomes the active one. False
  /// if there are none.
  template <class Keep>
  static bool detach(processor& p, Keep keep) noexcept {
    deque& records = *p.active.load(std::memory_order_relaxed);
    if (system::seems_empty(records)) return false;
    keep(records);
    // release: pairs with the acquire in for_each_deque
    p.active.store(&system::take_spare_deque(p), std::memory_order_release);
    return true;
  }

  /// A fiber has left its stack, and the worker may have lost its P: calls m.then, by which the wait of the fiber may end, and
  /// returns the fiber that goes on on this worker, or nullptr. Before that, records in the active deque leave with the fiber.
  static fiber* leave(worker& m, fiber& left) noexcept;

  /// The fiber waits: its records leave with its marker. Then the wait may end at any time: then() says which fiber goes on on this
  /// worker, or nullptr, and leave_records returns that.
  template <class Then>
  static fiber* leave_records(worker& m, fiber& left, Then then) noexcept;

  /// The deque that the fiber goes on with becomes the active one of the worker's P.
  static void install(worker& m, fiber& f) noexcept;

 private:
  static deque& active(processor& p) noexcept { return *p.active.load(std::memory_order_relaxed); }
  static deque* take_back(worker& m, fiber& f) noexcept;
  static void activate(worker& m, deque& records) noexcept;
};

}}}  // namespace fj::v0_2::detail
