// How a strand, or a thread outside of any runtime, waits for anything but a join, and how another ends the wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <stop_token>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/check.hpp"
#include "forkjoin/abi/timer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
class scheduler;

/// Where a strand waits, for messages.
struct wait_place {
  const char* what = nullptr;    ///< the function that waits; nullptr: a join
  std::source_location at = {};  ///< the call of it
  bool ended_by_others = false;  ///< by threads that the library does not know, so that a long wait is no news
};

// The events that may end a wait, and the one that ended it.

/// What ends a wait besides that for which it waits.
struct wait_limits {
  std::int64_t until = never;             ///< a time of os::now_ns
  const std::stop_token* stop = nullptr;  ///< the wait ends when it is asked to stop
  wait_place place = {};
};

enum class wait_end { served, refused, stopped, timed_out };

/// What those that claim a wait tell the waiter: a number below first_limit, or which limit ended the wait.
struct wait_winners {
  static constexpr unsigned timed_out = ~0u - 1, stopped = ~0u - 2, first_limit = stopped;

  /// The end of a wait that was served if no limit ended it.
  static wait_end end_by(unsigned winner) noexcept {
    return winner == timed_out ? wait_end::timed_out : winner == stopped ? wait_end::stopped : wait_end::served;
  }
};

// Where a strand that waits meets the strand or thread that wakes it.
//
// Several claimants may try to end one wait: senders on different channels, a close, a deadline, a request to stop.
// Exactly one claims it. The claimant then wakes the waiter by one exchange, and the waiter suspends by one
// compare-and-swap. The side that comes second finds the mark of the first side, as at a join (forkjoin/abi/join.hpp):
//
//   claimant first:  nothing -> woken    the waiter does not suspend
//   waiter first:    nothing -> strand   the claimant finds the strand and resumes it
//
// After its exchange the claimant never touches the word, nor the frame around it, again.

class wait_word {
 public:
  // Those that would end the wait.

  /// Whether the caller is the first. `by` is what the waiter learns. The one that succeeds writes its results, then
  /// calls wake.
  [[nodiscard]] bool claim(unsigned by) noexcept {
    unsigned none = unclaimed;
    // relaxed: only the order among claims matters; wake orders what the claimant wrote
    return winner_.compare_exchange_strong(none, by, std::memory_order_relaxed);
  }

  /// By the claimant, as its last act here. Returns the strand if it has suspended already: the caller must resume it.
  [[nodiscard]] void* wake() noexcept {
    // release: pairs with the acquire in woken; acquire: pairs with the release in suspend, by which the caller sees
    // the strand's context
    const std::uintptr_t found = word_.exchange(is_woken, std::memory_order_acq_rel);
    FORKJOIN_CHECK(found != is_woken);
    return reinterpret_cast<void*>(found);
  }

  // The waiter.

  /// Leaves `strand` to be resumed. Its context must be saved already: from here on it may run elsewhere. False if it
  /// has been woken before: then it will not be resumed.
  [[nodiscard]] bool suspend(void* strand) noexcept {
    std::uintptr_t found = nothing;
    // release: pairs with the acquire in wake, by which the claimant sees the context. On failure relaxed: the caller
    // asks woken next, which acquires
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

  os::atomic<unsigned> winner_{unclaimed};
  os::atomic<std::uintptr_t> word_{nothing};
};

// The steps of a wait around its word: those of the strand or thread that waits, and of the one that wakes it.

/// One wait of one strand, or of one thread outside of any runtime. Lies in the frame of the function that waits. A
/// strand leaves its stack meanwhile, so that its worker does other work; a thread outside sleeps.
class waiter_base : public wait_winners, private timer {
 public:
  /// Sets aside what a strand takes to leave its stack and to arm a timer, at its P: the strand must not leave its
  /// stack between this and wait. Throws std::bad_alloc if the system refuses memory.
  explicit waiter_base(const wait_limits& limits);

  // Those that would end the wait, from any thread.

  /// Whether the caller is the first to end this wait; then it must call wake. `by`: below `first_limit`.
  [[nodiscard]] bool claim(unsigned by) noexcept { return word_.claim(by); }

  /// By the claimant. The waiter may be gone when this returns. `its`: the precedence of the strand.
  // Inline, as every virtual function: g++ and clang export the table of a class differently if one is not.
  void wake(precedence its = precedence::in_order) noexcept override { wake_waiter(its); }

  // The strand or thread that waits.

  /// For a strand that ran code of a user since this object was made, which may have waited for something else: sets
  /// aside again what the strand takes to leave its stack and to arm its timer, perhaps at another P. Without memory
  /// for that, the wait keeps its worker.
  void set_aside_again() noexcept;

  /// Returns what the claimant gave, once the claimant has called wake. The strand may be on another thread then.
  /// Nothing else refers to this object afterwards but the objects that it has been put into the queues of.
  unsigned wait() noexcept;

 protected:
  ~waiter_base() = default;

  bool claim_wait() noexcept override { return claim(timed_out); }

 private:
  struct stops {
    waiter_base& of;
    void operator()() const noexcept {
      if (of.claim(stopped)) of.wake();
    }
  };

  void wake_waiter(precedence its) noexcept;
  void sleep_outside() noexcept;
  /// False: there is memory by now, so the strand may leave its stack.
  bool keep_worker_until_woken() noexcept;
  void leave_until_woken() noexcept;

  wait_word word_;
  os::atomic<std::uint32_t> signalled_{0};  // for a thread outside
  scheduler* const scheduler_;              // the strand's; nullptr: a thread outside
  const std::stop_token* const stop_;
  const wait_place place_;
  bool keeps_worker_ = false;  // without memory to leave the stack, or for the timer
};

#ifndef FORKJOIN_MACHINE  // else the model's waiter looks at what is done to it
class waiter final : public waiter_base {
 public:
  using waiter_base::waiter_base;
};
#endif

}}}  // namespace fj::v0_4::detail
