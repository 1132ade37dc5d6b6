#include "forkjoin/go/barrier.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

phases::arrival phases::arrive(std::ptrdiff_t n, std::ptrdiff_t dropped) noexcept {
  const locked lock(guard_);
  if (n < 1 || n > left_) return {false, false, phase_};
  left_ -= n;
  expected_ -= dropped;
  return {true, left_ == 0, phase_};
}

void phases::begin_next() noexcept {
  claimed_waits woken;
  {
    const locked lock(guard_);
    left_ = expected_;
    ++phase_;
    woken.claim_all(queue_);
  }
  woken.wake_all();
}

// Not analysed: wait_in frees the guard.
wait_end phases::wait(std::uint64_t phase, const wait_limits& limits) FORKJOIN_UNANALYSED {
  maybe_yield();
  std::unique_lock held(guard_);
  return phase_ != phase ? wait_end::served : detail::wait_in(queue_, held, nullptr, limits);
}

}}}  // namespace fj::v0_4::detail
