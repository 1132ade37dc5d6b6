// A mutex. While a fiber waits for it, the fiber's worker runs other fibers.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "../base/tuning.hpp"
#include "../os/thread_safety.hpp"
#include "wait_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Source: Go's sync/mutex.go. A free mutex may be taken by any caller, also ahead of those that wait, because a running
/// strand that takes it at once needs no switch. A waiter that has waited for tuning::starving_ns is handed the mutex by the
/// next unlock, and those that wait are woken first in, first out.
///
/// What keeps a waiter from being forgotten: under the guard it says `waited_for` before it tries the mutex for the last time, so
/// the owner's unlock either comes before and the try succeeds, or takes the guard and finds the waiter. At most one woken waiter
/// competes; the unlocks meanwhile wake no other, and need no guard. The competitor takes `competing` back before it tries again. An
/// unlock frees the word only as long as `competing` is in it. So that try comes after this unlock and finds the mutex free, or
/// the unlock takes the guard.
template <waiting_machine Machine>
class basic_mutex {
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
  [[nodiscard]] wait_end lock(const wait_limits& limits) { return try_lock() ? wait_end::served : lock_slow(limits); }

  /// False if the mutex is not locked; then nothing has changed.
  [[nodiscard]] bool unlock() noexcept {
    std::uint32_t alone = held;
    // release: pairs with the acquires in try_lock
    if (word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed)) return true;
    return unlock_slow();
  }

 private:
  using waiter = typename Machine::waiter;
  using wait_entry = basic_wait_entry<Machine>;

  // The last two change under the guard only. waited_for: the queue is not empty, or a waiter competes. competing: a woken waiter
  // has not come back yet.
  static constexpr std::uint32_t held = 1, waited_for = 2, competing = 4;

  wait_end lock_slow(const wait_limits& limits);
  bool unlock_slow() noexcept;

  typename Machine::template atomic<std::uint32_t> word_{0};
  typename Machine::mutex guard_;
  basic_wait_queue<Machine> queue_ FORKJOIN_GUARDED_BY(guard_);
};

// Not analysed: it frees the guard while it waits.
template <waiting_machine Machine>
wait_end basic_mutex<Machine>::lock_slow(const wait_limits& limits) FORKJOIN_UNANALYSED {
  const std::int64_t since = Machine::now_ns();
  std::unique_lock lock(guard_);
  for (bool again = false;; again = true) {
    if (again) word_.fetch_and(~competing, std::memory_order_relaxed);
    word_.fetch_or(waited_for, std::memory_order_relaxed);  // from here on the owner's unlock takes the guard
    if (try_lock()) {
      if (queue_.empty() && !(word_.load(std::memory_order_relaxed) & competing))
        word_.fetch_and(~waited_for, std::memory_order_relaxed);
      return wait_end::served;
    }
    waiter here(limits);
    wait_entry entry(here);
    entry.since = since;
    if (again) {
      queue_.push_front(entry);
    } else {
      queue_.push(entry);
    }
    lock.unlock();
    const wait_end end = wait_winners::end_by(here.wait());
    const bool handed = end == wait_end::served && !entry.refused;
    if (handed) return end;
    lock.lock();
    if (end == wait_end::served) continue;
    queue_.remove_if_queued(entry);
    return end;
  }
}

// Where none waits, it frees the mutex as its last act, without the guard: the next owner may destroy the mutex at once. While a
// waiter is there, the mutex stays.
template <waiting_machine Machine>
bool basic_mutex<Machine>::unlock_slow() noexcept {
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  if (!(word & held)) return false;
  for (;;) {
    while (word & competing) {
      // release, here and below: pairs with the acquire in try_lock
      if (word_.compare_exchange_weak(word, word & ~held, std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    wait_entry* next = nullptr;
    {
      const locked lock(guard_);
      next = queue_.claim_first();
      if (!next || queue_.empty()) word_.fetch_and(~waited_for, std::memory_order_relaxed);
      if (next && Machine::now_ns() - next->since < tuning::starving_ns) {
        next->refused = true;
        word_.fetch_or(waited_for | competing, std::memory_order_relaxed);
        word_.fetch_and(~held, std::memory_order_release);
      }
    }
    if (next) {
      next->of.wake();  // to compete for it, or as its owner if it starved: then it stays locked
      return true;
    }
    word = held;
    if (word_.compare_exchange_strong(word, 0, std::memory_order_release, std::memory_order_relaxed)) return true;
  }
}

}}}  // namespace fj::v0_2::detail
