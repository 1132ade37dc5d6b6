#include "forkjoin/abi/mutex.hpp"

#include "runtime/os/cpu.hpp"
#include "runtime/os/futex.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

void mutex::lock_slow() noexcept {
  for (int spins = 0; spins < 100; ++spins) {
    pause();
    if (try_lock()) return;
  }
  // acquire: pairs with the release in unlock
  while (state_.exchange(contended, std::memory_order_acquire) != unlocked) futex_wait(state_, contended);
}

void mutex::wake_one() noexcept { futex_wake(state_); }

}}}}  // namespace fj::v0_4::detail::os
