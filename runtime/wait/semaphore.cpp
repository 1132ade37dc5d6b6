#include "forkjoin/go/semaphore.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 {

bool semaphore::try_acquire() noexcept {
  {
    const detail::locked lock(guard_);
    if (permits_ > 0) {  // then nothing waits
      --permits_;
      return true;
    }
  }
  detail::maybe_yield();
  return false;
}

// Not analysed: wait_in frees the guard.
detail::wait_end semaphore::acquire_within(const detail::wait_limits& limits) FORKJOIN_UNANALYSED {
  detail::maybe_yield();
  std::unique_lock held(guard_);
  if (permits_ == 0) return detail::wait_in(queue_, held, nullptr, limits);
  --permits_;
  return detail::wait_end::served;
}

void semaphore::release(std::uint64_t permits) noexcept {
  detail::claimed_waits woken;
  {
    const detail::locked lock(guard_);
    for (; permits > 0; --permits) {
      detail::wait_entry* const first = queue_.claim_first();
      if (!first) break;
      woken.add(*first);
    }
    permits_ += std::min(permits, std::numeric_limits<std::uint64_t>::max() - permits_);
  }
  woken.wake_all();
}

}}  // namespace fj::v0_4
