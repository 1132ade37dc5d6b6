// Where a strand that waits meets the strand or thread that wakes it.
//
// Several claimants may try to end one wait: senders on different channels, a close, a deadline, a request to stop. Exactly one
// claims it. The claimant then wakes the waiter by one exchange, and the waiter suspends by one compare-and-swap. The side that
// comes second finds the mark of the first side, as at a join (fork/join.hpp):
//
//   claimant first:  nothing -> woken    the waiter does not suspend
//   waiter first:    nothing -> strand   the claimant finds the strand and resumes it
//
// After its exchange the claimant never touches the word, nor the frame around it, again.
#pragma once

#include <atomic>
#include <cstdint>

#include "../base/check.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <class Machine>
class basic_wait_word {
 public:
  // Those that would end the wait.

  /// Whether the caller is the first. `by` is what the waiter learns. The one that succeeds writes its results, then calls wake.
  [[nodiscard]] bool claim(unsigned by) noexcept {
    unsigned none = unclaimed;
    // relaxed: only the order among claims matters; wake orders what the claimant wrote
    return winner_.compare_exchange_strong(none, by, std::memory_order_relaxed);
  }

  /// By the claimant, as its last act here. Returns the strand if it has suspended already: the caller must resume it.
  [[nodiscard]] void* wake() noexcept {
    // release: pairs with the acquire in woken; acquire: the caller sees the context that suspend saved before
    const std::uintptr_t found = word_.exchange(is_woken, std::memory_order_acq_rel);
    FORKJOIN_CHECK(found != is_woken);
    return reinterpret_cast<void*>(found);
  }

  // The waiter.

  /// Leaves `strand` to be resumed. Its context must be saved already: from here on it may run elsewhere. False if it has been
  /// woken before: then it will not be resumed.
  [[nodiscard]] bool suspend(void* strand) noexcept {
    std::uintptr_t found = nothing;
    // release: pairs with the acquire in wake, by which the claimant sees the context. On failure relaxed: woken acquires
    return word_.compare_exchange_strong(found, reinterpret_cast<std::uintptr_t>(strand), std::memory_order_release,
                                         std::memory_order_relaxed);
  }

  /// Whether wake has been called; what the claimant wrote is visible then. Ask before the results are read.
  bool woken() const noexcept {
    return word_.load(std::memory_order_acquire) == is_woken;  // acquire: pairs with the release in wake
  }

  /// What the claimant gave. Only once woken.
  unsigned winner() const noexcept { return winner_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned unclaimed = ~0u;
  static constexpr std::uintptr_t nothing = 0, is_woken = 1;

  typename Machine::template atomic<unsigned> winner_{unclaimed};
  typename Machine::template atomic<std::uintptr_t> word_{nothing};
};

}}}  // namespace fj::v0_2::detail
