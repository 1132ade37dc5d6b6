#include "forkjoin/go/wait_group.hpp"

#include <cstdint>
#include <mutex>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 {

bool wait_group::try_add(std::int64_t change) noexcept {
  detail::claimed_waits woken;
  {
    const detail::locked lock(guard_);
    std::int64_t changed = 0;
    if (__builtin_add_overflow(count_, change, &changed) || changed < 0) return false;
    count_ = changed;
    if (count_ == 0) woken.claim_all(queue_);
  }
  woken.wake_all();
  return true;
}

// Not analysed: wait_in frees the guard.
detail::wait_end wait_group::wait_for_zero(const detail::wait_limits& limits) FORKJOIN_UNANALYSED {
  detail::maybe_yield();
  std::unique_lock held(guard_);
  return count_ == 0 ? detail::wait_end::served : detail::wait_in(queue_, held, nullptr, limits);
}

bool wait_group::is_zero() noexcept {
  {
    const detail::locked lock(guard_);
    if (count_ == 0) return true;
  }
  detail::maybe_yield();
  return false;
}

}}  // namespace fj::v0_4
