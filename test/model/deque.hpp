// The deque that is checked, or a mutant of it.
#pragma once

#include "test/model/machine.hpp"

#include "runtime/fork/deque.hpp"

namespace model {

using fj::detail::deque;
using fj::detail::deque_thief;
using fj::detail::record;
using fj::detail::record_stand_in;
using fj::detail::stolen_record;

/// A deque with its slots behind it, and one that is not its own. Slots that nothing was stored in hold what a thief
/// must not get.
template <std::size_t capacity>
struct deque_with_slots {
  deque_with_slots(record& never_pushed, bool eager) : records(capacity, eager), never(never_pushed) {
    for (deque::slot& slot : slots) slot.store(&never_pushed, std::memory_order_relaxed);
  }

  bool is_within_bounds() { return slots[capacity].load(std::memory_order_relaxed) == &never; }

  deque records;
  deque::slot slots[capacity + 1];
  record& never;
};

}  // namespace model
