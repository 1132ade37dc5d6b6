#include "runtime/wait/condition.hpp"

#include "runtime/wait/maybe_yield.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

wait_end condition_core::wait(mutex_core& user, const wait_limits& limits) {
  maybe_yield();
  waiter here(limits);
  wait_entry entry(here);
  {
    const locked lock(guard_);
    queue_.push(entry);
  }
  user.unlock(limits.place.what, limits.place.at);
  const wait_end end = waiter::end_by(here.wait());
  if (end != wait_end::served) {
    const locked lock(guard_);
    queue_.remove_if_queued(entry);
  }
  user.lock_surely();
  return end;
}

void condition_core::notify_one() noexcept {
  wait_entry* first = nullptr;
  {
    const locked lock(guard_);
    first = queue_.claim_first();
  }
  if (first) first->of.wake();
}

void condition_core::notify_all() noexcept {
  claimed_waits woken;
  {
    const locked lock(guard_);
    woken.claim_all(queue_);
  }
  woken.wake_all();
}

}}}  // namespace fj::v0_2::detail
