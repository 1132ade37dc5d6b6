#include "forkjoin/go/condition_variable.hpp"

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "forkjoin/go/mutex.hpp"

namespace fj { inline namespace v0_4 {

detail::wait_end condition_variable::wait_within(mutex& user, const detail::wait_limits& limits) {
  detail::maybe_yield();
  detail::waiter here(limits);
  detail::wait_entry entry(here);
  {
    const detail::locked lock(guard_);
    queue_.push(entry);
  }
  if (!user.rules_.unlock()) detail::report_not_locked(limits.place.what, limits.place.at);
  const detail::wait_end end = detail::waiter::end_by(here.wait());
  if (end != detail::wait_end::served) {
    const detail::locked lock(guard_);
    queue_.remove_if_queued(entry);
  }
  user.lock_surely(limits.place);
  return end;
}

void condition_variable::notify_one() noexcept {
  detail::wait_entry* first = nullptr;
  {
    const detail::locked lock(guard_);
    first = queue_.claim_first();
  }
  if (first) first->of.wake();
}

void condition_variable::notify_all() noexcept {
  detail::claimed_waits woken;
  {
    const detail::locked lock(guard_);
    woken.claim_all(queue_);
  }
  woken.wake_all();
}

}}  // namespace fj::v0_4
