#include "forkjoin/abi/mutex_protocol.hpp"

#include <mutex>

#include "runtime/base/tuning.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// Not analysed: it frees the guard while it waits.
wait_end mutex_protocol::lock_slow(const wait_limits& limits) FORKJOIN_UNANALYSED {
  const std::int64_t since = os::now_ns();
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
    // If the deadline and unlock come together, the claim decides: forkjoin/abi/waiter.hpp: claim.
    const wait_end end = wait_winners::end_by(here.wait());
    const bool handed = end == wait_end::served && !entry.refused;
    if (handed) return end;
    lock.lock();
    if (end == wait_end::served) continue;
    queue_.remove_if_queued(entry);
    return end;
  }
}

// Where none waits, it frees the mutex as its last act, without the guard: the next owner may destroy the mutex at
// once. While a waiter is there, the mutex stays.
bool mutex_protocol::unlock_slow() noexcept {
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  if (!(word & held)) return false;
  for (;;) {
    while (word & competing) {
      // release, here and below: pairs with the acquire in forkjoin/abi/mutex_protocol.hpp: try_lock
      if (word_.compare_exchange_weak(word, word & ~held, std::memory_order_release, std::memory_order_relaxed))
        return true;
    }
    wait_entry* next = nullptr;
    {
      const locked lock(guard_);
      next = queue_.claim_first();
      if (!next || queue_.empty()) word_.fetch_and(~waited_for, std::memory_order_relaxed);
      if (next && os::now_ns() - next->since < tuning::starving_ns) {
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

}}}  // namespace fj::v0_4::detail
