// The state of an fj::mutex, and how strands take it and free it. While a fiber waits for it, the fiber's worker runs
// other fibers. The slow paths are in runtime/wait/mutex_protocol.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Source: Go's sync/mutex.go. A free mutex may be taken by any caller, also ahead of those that wait, because a
/// running strand that takes it at once needs no switch. A waiter that has waited for tuning::starving_ns is handed the
/// mutex by the next unlock, and those that wait are woken first in, first out.
///
/// What keeps a waiter from being forgotten: under the guard it says `waited_for` before it tries the mutex for the
/// last time, so the owner's unlock either comes before and the try succeeds, or takes the guard and finds the waiter.
/// At most one woken waiter competes; the unlocks meanwhile wake no other, and need no guard. The competitor takes
/// `competing` back before it tries again. An unlock frees the word only as long as `competing` is in it. So that try
/// comes after this unlock and finds the mutex free, or the unlock takes the guard.
class mutex_protocol {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    while (!(word & held)) {
      // acquire: pairs with the releases in unlock and, in runtime/wait/mutex_protocol.cpp, in unlock_slow
      if (word_.compare_exchange_weak(word, word | held, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// `served`: the caller has the mutex. Throws std::bad_alloc if there is no memory to wait.
  [[nodiscard]] wait_end lock(const wait_limits& limits) { return try_lock() ? wait_end::served : lock_slow(limits); }

  /// False if the mutex is not locked; then nothing has changed.
  [[nodiscard]] bool unlock() noexcept {
    std::uint32_t alone = held;
    // release: pairs with the acquire in try_lock
    if (word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed)) return true;
    return unlock_slow();
  }

 private:
  // The last two change under the guard only. waited_for: the queue is not empty, or a waiter competes. competing: a
  // woken waiter has not come back yet.
  static constexpr std::uint32_t held = 1, waited_for = 2, competing = 4;

  wait_end lock_slow(const wait_limits& limits);
  bool unlock_slow() noexcept;

  os::atomic<std::uint32_t> word_{0};
  os::mutex guard_;
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}}  // namespace fj::v0_4::detail
