// A four-byte mutex of threads, for the library's own objects. fj::mutex, for strands, is in forkjoin/go/mutex.hpp.
#pragma once

#ifndef FORKJOIN_MACHINE  // which has a mutex of its own

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/os/thread_safety.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Drepper's third mutex ("Futexes are tricky", 2011): a thread spins briefly, then sleeps on a futex. Used where
/// std::mutex is too large (one per deque) or where try_lock must never fail without a holder. Meets BasicLockable, so
/// `locked` works.
class FORKJOIN_MUTEX mutex {
 public:
  [[nodiscard]] bool try_lock() noexcept FORKJOIN_TRIES(true) {
    std::uint32_t free = unlocked;
    // acquire: pairs with the release in unlock
    return state_.compare_exchange_strong(free, locked, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void lock() noexcept FORKJOIN_ACQUIRES() FORKJOIN_UNANALYSED {
    if (!try_lock()) [[unlikely]]
      lock_slow();
  }

  void unlock() noexcept FORKJOIN_RELEASES() FORKJOIN_UNANALYSED {
    // release: pairs with the acquires in try_lock and, in runtime/os/mutex.cpp, in lock_slow
    if (state_.exchange(unlocked, std::memory_order_release) == contended) wake_one();
  }

 private:
  static constexpr std::uint32_t unlocked = 0, locked = 1, contended = 2;

  void lock_slow() noexcept FORKJOIN_UNANALYSED;
  // The mutex may be gone already: its next holder may have ended it.
  void wake_one() noexcept;

  std::atomic<std::uint32_t> state_{unlocked};
};

}}}}  // namespace fj::v0_4::detail::os

#endif
