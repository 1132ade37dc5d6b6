#include "runtime/wait/semaphore.hpp"

#include <algorithm>
#include <limits>

#include "runtime/wait/maybe_yield.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

bool semaphore_core::try_acquire() noexcept {
  {
    const locked lock(guard_);
    if (permits_ > 0) {  // then nothing waits
      --permits_;
      return true;
    }
  }
  maybe_yield();
  return false;
}

// Not analysed: wait_in frees the guard.
wait_end semaphore_core::acquire(const wait_limits& limits) FORKJOIN_UNANALYSED {
  maybe_yield();
  std::unique_lock held(guard_);
  if (permits_ == 0) return detail::wait_in(queue_, held, nullptr, limits);
  --permits_;
  return wait_end::served;
}

void semaphore_core::release(std::uint64_t permits) noexcept {
  claimed_waits woken;
  {
    const locked lock(guard_);
    for (; permits > 0; --permits) {
      wait_entry* const first = queue_.claim_first();
      if (!first) break;
      woken.add(*first);
    }
    permits_ += std::min(permits, std::numeric_limits<std::uint64_t>::max() - permits_);
  }
  woken.wake_all();
}

std::uint64_t semaphore_core::available() const noexcept {
  const locked lock(guard_);
  return permits_;
}

}}}  // namespace fj::v0_2::detail
