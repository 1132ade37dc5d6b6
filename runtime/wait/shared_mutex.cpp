#include "runtime/wait/shared_mutex.hpp"

#include "runtime/wait/maybe_yield.hpp"
#include "runtime/wait/mutex.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

bool shared_mutex_core::take(bool writes) noexcept {
  if (writer_ || (writes && readers_ > 0)) return false;
  if (writes) {
    writer_ = true;
  } else {
    ++readers_;
  }
  return true;
}

// Those at the head of the queue, as far as they may go on together.
void shared_mutex_core::admit(claimed_waits& woken) noexcept {
  while (const wait_entry* const first = queue_.first()) {
    const bool writes = first->number != 0;
    if (writer_ || (writes && readers_ > 0)) return;
    wait_entry* const claimed = queue_.claim_head();
    if (!claimed) continue;  // its wait has ended by a limit
    static_cast<void>(take(writes));
    woken.add(*claimed);
  }
}

bool shared_mutex_core::try_lock(bool writes) noexcept {
  {
    const locked lock(guard_);
    if (queue_.empty() && take(writes)) return true;
  }
  maybe_yield();
  return false;
}

// Not analysed: it frees the guard while it waits.
wait_end shared_mutex_core::lock(bool writes, const wait_limits& limits) FORKJOIN_UNANALYSED {
  maybe_yield();
  std::unique_lock held(guard_);
  if (queue_.empty() && take(writes)) return wait_end::served;
  waiter here(limits);
  wait_entry entry(here, writes);
  queue_.push(entry);
  held.unlock();
  const wait_end end = waiter::end_by(here.wait());
  if (end == wait_end::served) return end;
  // Those behind it may go on.
  claimed_waits woken;
  held.lock();
  queue_.remove_if_queued(entry);
  admit(woken);
  held.unlock();
  woken.wake_all();
  return end;
}

void shared_mutex_core::unlock(bool writes, const char* call, std::source_location at) noexcept {
  claimed_waits woken;
  {
    const locked lock(guard_);
    if (writes ? !writer_ : readers_ == 0) report_not_locked(call, at);
    if (writes) {
      writer_ = false;
    } else {
      --readers_;
    }
    admit(woken);
  }
  woken.wake_all();
}

}}}  // namespace fj::v0_2::detail
