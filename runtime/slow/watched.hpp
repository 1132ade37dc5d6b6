// Whether an owner must answer an alarm after a quiet push.
#pragma once

#include "../schedule/machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <scheduling_machine Machine>
struct basic_watched {
  using deque = typename Machine::deque;
  using worker = typename Machine::worker;

  /// After a push that found an alarm which no worker has marked as watched: whether a worker looks for work all the same, and will
  /// find the record.
  // No heavy fence comes between the push and this look. A worker that gives up looking says so, and fences all threads
  // before it looks at the deques for the last time: so either it sees the record, or this thread sees that it gave up.
  template <class Record>
  static bool by_any(worker& m, const deque& d, const Record& newest) noexcept {
    auto& s = m.sched();
    return s.dispatcher().any_spinning() && !s.settings().eager && !s.settings().steal_every_fork && d.has_capacity() &&
           !d.is_in_handler() && d.is_only_private(newest);
  }
};

}}}  // namespace fj::v0_2::detail
