#include "runtime/wait/mutex.hpp"

#include <new>

#include "runtime/base/tuning.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/cpu.hpp"

namespace fj::inline v0_1::detail {

// Not analysed: it frees the guard while it waits.
wait_end mutex_core::lock_slow(const wait_limits& limits) FORKJOIN_UNANALYSED {
  const std::int64_t since = os::now_ns();
  std::unique_lock lock(guard_);
  for (bool again = false;; again = true) {
    if (again) competes_ = false;
    word_.fetch_or(waited_for, std::memory_order_relaxed);  // from here on the owner's unlock takes the guard
    if (try_lock()) {
      if (queue_.empty() && !competes_) word_.fetch_and(~waited_for, std::memory_order_relaxed);
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
    const wait_end end = waiter::end_by(here.wait());
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
void mutex_core::unlock_slow() noexcept {
  for (;;) {
    wait_entry* next = nullptr;
    {
      const locked lock(guard_);
      if (competes_) {
        // release, here and below: pairs with the acquire in try_lock. Under the guard: that waiter may be about to queue again
        word_.fetch_and(~held, std::memory_order_release);
        return;
      }
      next = queue_.claim_first();
      if (!next || queue_.empty()) word_.fetch_and(~waited_for, std::memory_order_relaxed);
      if (next && os::now_ns() - next->since < tuning::starving_ns) {
        next->refused = true;
        competes_ = true;
        word_.fetch_or(waited_for, std::memory_order_relaxed);
        word_.fetch_and(~held, std::memory_order_release);
      }
    }
    if (next) return next->of.wake();  // to compete for it, or as its owner if it starved: then it stays locked
    std::uint32_t alone = held;
    if (word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed)) return;
  }
}

void mutex_core::lock_surely() noexcept {
  for (;;) {
    try {
      static_cast<void>(lock({}));
      return;
    } catch (const std::bad_alloc&) {
      os::sleep_ns(tuning::refused_ns);
    }
  }
}

}  // namespace fj::inline v0_1::detail
