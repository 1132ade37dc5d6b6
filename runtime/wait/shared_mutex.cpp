#include "forkjoin/go/shared_mutex.hpp"

#include <mutex>
#include <source_location>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "forkjoin/go/mutex.hpp"

namespace fj { inline namespace v0_4 {

bool shared_mutex::take(bool writes) noexcept {
  if (writer_ || (writes && readers_ > 0)) return false;
  if (writes) {
    writer_ = true;
  } else {
    ++readers_;
  }
  return true;
}

// Those at the head of the queue, as far as they may go on together.
void shared_mutex::admit(detail::claimed_waits& woken) noexcept {
  while (const detail::wait_entry* const first = queue_.first()) {
    const bool writes = first->number != 0;
    if (writer_ || (writes && readers_ > 0)) return;
    detail::wait_entry* const claimed = queue_.claim_head();
    if (!claimed) continue;  // its wait has ended by a limit
    static_cast<void>(take(writes));
    woken.add(*claimed);
  }
}

bool shared_mutex::try_lock_as(bool writes) noexcept {
  {
    const detail::locked lock(guard_);
    if (queue_.empty() && take(writes)) return true;
  }
  detail::maybe_yield();
  return false;
}

// Not analysed: it frees the guard while it waits.
detail::wait_end shared_mutex::lock_within(bool writes, const detail::wait_limits& limits) FORKJOIN_UNANALYSED {
  detail::maybe_yield();
  std::unique_lock held(guard_);
  if (queue_.empty() && take(writes)) return detail::wait_end::served;
  detail::waiter here(limits);
  detail::wait_entry entry(here, writes);
  queue_.push(entry);
  held.unlock();
  const detail::wait_end end = detail::waiter::end_by(here.wait());
  if (end == detail::wait_end::served) return end;
  // Those behind it may go on.
  detail::claimed_waits woken;
  held.lock();
  queue_.remove_if_queued(entry);
  admit(woken);
  held.unlock();
  woken.wake_all();
  return end;
}

void shared_mutex::unlock_as(bool writes, const char* call, std::source_location at) noexcept {
  detail::claimed_waits woken;
  {
    const detail::locked lock(guard_);
    if (writes ? !writer_ : readers_ == 0) detail::report_not_locked(call, at);
    if (writes) {
      writer_ = false;
    } else {
      --readers_;
    }
    admit(woken);
  }
  woken.wake_all();
}

}}  // namespace fj::v0_4
