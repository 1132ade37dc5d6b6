// How the records of a fiber that gives way leave its P, and how they come back.
//
// The fiber takes its deque along, without a marker: the worker that runs the fiber gets its records, too. So with one P no
// continuation starts before its turn because its strand gave way. The wake-up that would be lost: a worker that parks finds
// neither the fiber nor its records. Two rules prevent that. When a fiber gives way, it becomes ready after its deque has left
// the P, which wakes a worker. When a worker takes the fiber up, it makes the records active and then looks for sleeping
// workers, as in left_records.hpp.
#pragma once

#include <atomic>

#include "left_records.hpp"
#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Asks of its machine what basic_left_records asks, and of a fiber `carried`.
template <scheduling_machine Machine>
struct basic_carried_records {
  using deque = typename Machine::deque;
  using fiber = typename Machine::fiber;
  using worker = typename Machine::worker;

  /// The fiber has left its stack, and is about to be ready: records in the active deque of the P go with it. A thief that looks
  /// at that deque still may take what is public. Nothing private: the strand has seen to that (slow/give_way.cpp).
  static void take_along(worker& m, fiber& left) noexcept {
    auto& active = m.proc->active;
    deque* const records = active.load(std::memory_order_relaxed);
    if (Machine::seems_empty(*records)) return;
    left.carried = records;
    // release: pairs with the acquire in for_each_deque
    active.store(&Machine::take_spare_deque(m), std::memory_order_release);
  }

  /// The fiber goes on. As basic_left_records::take_back.
  static deque* bring_back(worker& m, fiber& f) noexcept {
    deque* const records = f.carried.replace(nullptr);
    return records ? &basic_left_records<Machine>::activate(m, *records) : nullptr;
  }
};

}}}  // namespace fj::v0_2::detail
