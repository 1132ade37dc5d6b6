#include "runtime/slow/quiet.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/os/context/context.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

bool is_watched_slow(const record& newest) noexcept {
  const deque& d = current_deque();
  if (&d == &outside) return false;
  const worker& m = *current_worker();
  scheduler& s = m.sched();
  // No heavy fence comes between the push and this look. A worker that gives up looking says so, and fences all threads
  // before it looks at the deques for the last time: so either it sees the record, or this thread sees that it gave up.
  return s.dispatcher().any_spinning() && !s.settings().eager && !s.settings().steal_every_fork && d.has_capacity() &&
         !d.is_in_handler() && d.is_only_private(newest) && !os::handled_exception(*m.exceptions);
}

}  // namespace fj::inline v0_1::detail
