// A mutex whose waiters leave their workers to others.
#pragma once

#include <atomic>
#include <cstdint>

#include "../os/mutex.hpp"
#include "disturb.hpp"
#include "system.hpp"

namespace fj::inline v0_1::detail {

/// Source: Go's sync/mutex.go. A free mutex may be taken by any caller, also ahead of those that wait, because a running
/// strand that takes it at once needs no switch. A waiter that has waited for tuning::starving_ns is handed the mutex by the
/// next unlock, and those that wait are woken first in, first out.
class mutex_core {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    while (!(word & held)) {
      // acquire: pairs with the releases in unlock and unlock_slow
      if (word_.compare_exchange_weak(word, word | held, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// `served`: the caller has the mutex. Throws std::bad_alloc if there is no memory to wait.
  [[nodiscard]] wait_end lock(const wait_limits& limits) {
    disturb();
    return try_lock() ? wait_end::served : lock_slow(limits);
  }

  /// As lock, but waits for memory, too.
  void lock_surely() noexcept;

  void unlock() noexcept {
    disturb();
    unlock_before_wait();
  }

  /// As unlock, by a strand that has made a waiter: it must not leave its P before it waits there.
  void unlock_before_wait() noexcept {
    std::uint32_t alone = held;
    // release: pairs with the acquires in try_lock
    if (!word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed)) unlock_slow();
  }

 private:
  static constexpr std::uint32_t held = 1, waited_for = 2;

  wait_end lock_slow(const wait_limits& limits);
  void unlock_slow() noexcept;

  std::atomic<std::uint32_t> word_{0};
  os::mutex guard_;  // of the queue, and of `waited_for`, which says that the queue is not empty or a waiter competes
  bool competes_ FORKJOIN_GUARDED_BY(guard_) = false;  // a woken waiter, which has not come back yet
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}  // namespace fj::inline v0_1::detail
