// A four-byte mutex: spins briefly, then sleeps on a futex.
#pragma once

#include <atomic>
#include <cstdint>

#include "cpu.hpp"
#include "futex.hpp"
#include "thread_safety.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// Drepper's third mutex ("Futexes are tricky", 2011). Used where std::mutex is too large (one per deque) or where
/// try_lock must never fail without a holder. Meets BasicLockable, so `locked` works.
class FORKJOIN_MUTEX mutex {
 public:
  [[nodiscard]] bool try_lock() noexcept FORKJOIN_TRIES(true) {
    std::uint32_t free = unlocked;
    // acquire: pairs with the release in unlock
    return state_.compare_exchange_strong(free, locked, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void lock() noexcept FORKJOIN_ACQUIRES() FORKJOIN_UNANALYSED {
    for (int spins = 0; spins < 100; ++spins) {
      if (try_lock()) return;
      pause();
    }
    // acquire: pairs with the release in unlock
    while (state_.exchange(contended, std::memory_order_acquire) != unlocked) futex_wait(state_, contended);
  }

  void unlock() noexcept FORKJOIN_RELEASES() FORKJOIN_UNANALYSED {
    // release: pairs with the acquires above
    if (state_.exchange(unlocked, std::memory_order_release) == contended) futex_wake(state_);
  }

 private:
  static constexpr std::uint32_t unlocked = 0, locked = 1, contended = 2;
  std::atomic<std::uint32_t> state_{unlocked};
};

}}}}  // namespace fj::v0_2::detail::os
