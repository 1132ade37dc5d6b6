#include "runtime/wait/mutex.hpp"

#include <new>

#include "runtime/base/tuning.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/cpu.hpp"

namespace fj::inline v0_1::detail {

// Not analysed: it frees the guard while it waits.
bool mutex_core::lock_slow(const std::stop_token* stop) FORKJOIN_UNANALYSED {
  const std::int64_t since = os::now_ns();
  std::unique_lock lock(guard_);
  for (bool again = false;; again = true) {
    if (again) competes_ = false;
    word_.fetch_or(waited_for, std::memory_order_relaxed);  // from here on the owner's unlock takes the guard
    if (try_lock()) {
      if (queue_.empty() && !competes_) word_.fetch_and(~waited_for, std::memory_order_relaxed);
      return true;
    }
    waiter here;
    wait_entry entry(here);
    entry.since = since;
    if (again) {
      queue_.push_front(entry);
    } else {
      queue_.push(entry);
    }
    lock.unlock();
    unsigned winner = 0;
    {
      const stops_wait stops(here, stop);
      winner = here.wait();
    }
    const bool handed = winner != stops_wait::stopped && !entry.refused;
    if (handed) return true;
    lock.lock();
    if (winner != stops_wait::stopped) continue;
    queue_.remove_if_queued(entry);
    return false;
  }
}

void mutex_core::unlock_slow() noexcept {
  wait_entry* next = nullptr;
  {
    const locked lock(guard_);
    next = competes_ ? nullptr : queue_.claim_first();
    if (!next) {
      // release, here and below: pairs with the acquire in try_lock
      word_.fetch_and(competes_ ? ~held : ~(held | waited_for), std::memory_order_release);
      return;
    }
    if (os::now_ns() - next->since >= tuning::starving_ns) {
      if (queue_.empty()) word_.fetch_and(~waited_for, std::memory_order_relaxed);  // it stays locked
    } else {
      next->refused = true;
      competes_ = true;
      word_.fetch_and(~held, std::memory_order_release);
    }
  }
  next->of.wake();
}

void mutex_core::lock_surely() noexcept {
  for (;;) {
    try {
      static_cast<void>(lock(nullptr));
      return;
    } catch (const std::bad_alloc&) {
      os::sleep_ns(tuning::refused_ns);
    }
  }
}

}  // namespace fj::inline v0_1::detail
