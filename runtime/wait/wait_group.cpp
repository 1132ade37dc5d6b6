#include "runtime/wait/wait_group.hpp"

#include "runtime/wait/maybe_yield.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

bool wait_group_core::add(std::int64_t change) noexcept {
  claimed_waits woken;
  {
    const locked lock(guard_);
    std::int64_t changed = 0;
    if (__builtin_add_overflow(count_, change, &changed) || changed < 0) return false;
    count_ = changed;
    if (count_ == 0) woken.claim_all(queue_);
  }
  woken.wake_all();
  return true;
}

// Not analysed: wait_in frees the guard.
wait_end wait_group_core::wait(const wait_limits& limits) FORKJOIN_UNANALYSED {
  maybe_yield();
  std::unique_lock held(guard_);
  return count_ == 0 ? wait_end::served : detail::wait_in(queue_, held, nullptr, limits);
}

bool wait_group_core::is_zero() noexcept {
  {
    const locked lock(guard_);
    if (count_ == 0) return true;
  }
  maybe_yield();
  return false;
}

}}}  // namespace fj::v0_2::detail
