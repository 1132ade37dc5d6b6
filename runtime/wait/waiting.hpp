// How a strand, or a thread outside of any runtime, waits for anything but a join, and how another ends the wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "../base/check.hpp"
#include "../os/race_detector.hpp"
#include "../sched/timer_heap.hpp"
#include "../stacks/wait_place.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

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
// Several claimants may try to end one wait: senders on different channels, a close, a deadline, a request to stop. Exactly one
// claims it. The claimant then wakes the waiter by one exchange, and the waiter suspends by one compare-and-swap. The side that
// comes second finds the mark of the first side, as at a join (fork/join.hpp):
//
//   claimant first:  nothing -> woken    the waiter does not suspend
//   waiter first:    nothing -> strand   the claimant finds the strand and resumes it
//
// After its exchange the claimant never touches the word, nor the frame around it, again.

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

// The steps of a wait around its word: those of the strand or thread that waits, and of the one that wakes it.

/// One wait of one strand, or of one thread outside of any runtime. Lies in the frame of the function that waits. A strand leaves
/// its stack meanwhile, so that its worker does other work; a thread outside sleeps.
///
/// Asks of its machine: `timer`, a basic_timer; `stop_callback<F>`, as std::stop_callback; and for strands `fiber`, `worker`, and
/// `scheduler`, what the workers of a runtime share. `prepare_to_wait(until)` sets aside what the calling strand takes to leave its
/// stack and to arm a timer, and returns its scheduler, or nullptr for a thread outside; it throws std::bad_alloc if the system
/// refuses memory. `prepare_again()` does so once more, without the timer, and is false if there is no memory. `arm(t)` arms a timer
/// and returns the heap where. `suspend(of, place, then, argument)` has the strand leave its stack, as strand_machine's.
/// `resume(of, f)` makes a strand that has left runnable. `come_after_stop` is called by a strand that was asked to stop.
/// `yield_thread` is for a strand that keeps its worker. For threads outside: `futex_wait`, `futex_wait_until` and `futex_wake`;
/// `waits_outside_for_more`, which lives while such a thread waits for a limit, too; and `sleep_for_good(word, place)`, which returns
/// when the word is no longer 0, with acquire.
template <class Machine>
class basic_waiter : public wait_winners, private Machine::timer {
 public:
  /// Sets aside what a strand takes to leave its stack and to arm a timer, at its P: the strand must not leave its stack between
  /// this and wait. Throws std::bad_alloc if the system refuses memory.
  explicit basic_waiter(const wait_limits& limits);

  // Those that would end the wait, from any thread.

  /// Whether the caller is the first to end this wait; then it must call wake. `by`: below `first_limit`.
  [[nodiscard]] bool claim(unsigned by) noexcept { return word_.claim(by); }

  /// By the claimant. The waiter may be gone when this returns.
  void wake() noexcept override;

  // The strand or thread that waits.

  /// For a strand that ran code of a user since this object was made, which may have waited for something else: sets aside
  /// again what the strand takes to leave its stack. Without memory for it the wait keeps its worker.
  void set_aside_again() noexcept;

  /// Returns what the claimant gave, once the claimant has called wake. The strand may be on another thread then. Nothing else
  /// refers to this object afterwards but the objects that it has been put into the queues of.
  unsigned wait() noexcept;

 protected:
  ~basic_waiter() = default;

  bool claim_wait() noexcept override { return claim(timed_out); }

 private:
  using fiber = typename Machine::fiber;
  using scheduler = typename Machine::scheduler;
  using wait_word = basic_wait_word<Machine>;

  struct stops {
    basic_waiter& of;
    void operator()() const noexcept {
      if (of.claim(stopped)) of.wake();
    }
  };

  void sleep_outside() noexcept;
  void leave_until_woken() noexcept;

  wait_word word_;
  typename Machine::template atomic<std::uint32_t> signalled_{0};  // for a thread outside
  scheduler* const scheduler_;                                     // the strand's; nullptr: a thread outside
  const std::stop_token* const stop_;
  const wait_place place_;
  bool keeps_worker_ = false;  // without memory to leave the stack
};

template <class Machine>
basic_waiter<Machine>::basic_waiter(const wait_limits& limits)
    : Machine::timer(limits.until),
      scheduler_(Machine::prepare_to_wait(limits.until)),
      stop_(limits.stop),
      place_(limits.place) {}

template <class Machine>
void basic_waiter<Machine>::wake() noexcept {
  scheduler* const of = scheduler_;
  if (!of) {
    // release: pairs with the acquire in sleep_outside
    signalled_.store(1, std::memory_order_release);
    Machine::futex_wake(signalled_);
    return;
  }
  if (auto* const f = static_cast<fiber*>(word_.wake())) Machine::resume(*of, *f);
}

template <class Machine>
void basic_waiter<Machine>::set_aside_again() noexcept {
  if (scheduler_) keeps_worker_ = !Machine::prepare_again();
}

template <class Machine>
unsigned basic_waiter<Machine>::wait() noexcept {
  std::optional<typename Machine::template stop_callback<stops>> callback;
  if (stop_) callback.emplace(*stop_, stops{*this});
  if (!scheduler_) {
    sleep_outside();
  } else if (this->at == never) {
    leave_until_woken();
  } else {
    // Also if the deadline has passed: a strand that waits again and again lets others run.
    auto& armed_in = Machine::arm(*this);  // the strand may go on at another P
    leave_until_woken();
    if (word_.winner() != timed_out) armed_in.disarm(*this);
  }
  if (scheduler_ && stop_ && stop_->stop_requested()) Machine::come_after_stop();
  return word_.winner();
}

template <class Machine>
void basic_waiter<Machine>::sleep_outside() noexcept {
  if (this->at == never) return Machine::sleep_for_good(signalled_, place_);
  const typename Machine::waits_outside_for_more counted;
  std::int64_t until = this->at;
  // acquire: pairs with the release in wake
  while (signalled_.load(std::memory_order_acquire) == 0) {
    if (until == never) {
      Machine::futex_wait(signalled_, 0);
    } else if (!Machine::futex_wait_until(signalled_, 0, until)) {
      if (claim(timed_out)) return;
      until = never;  // another has claimed the wait, and will wake this thread
    }
  }
}

template <class Machine>
void basic_waiter<Machine>::leave_until_woken() noexcept {
  while (keeps_worker_ && !word_.woken()) Machine::yield_thread();
  if (!word_.woken()) {
    Machine::suspend(
        *scheduler_, place_,
        [](typename Machine::worker&, fiber& f, void* word) noexcept -> fiber* {
          const os::unseen_by_detector pause;  // the word lies in the frame of the strand
          return static_cast<wait_word*>(word)->suspend(&f) ? nullptr : &f;
        },
        &word_);
  }
  static_cast<void>(word_.woken());  // acquire: what the claimant wrote is visible to this strand
}

}}}  // namespace fj::v0_2::detail
