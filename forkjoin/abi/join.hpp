// Where a fork's two sides meet: the owner of the record and, if it was stolen, its thief.
//
// One word with three states. At first the word holds the function that runs the stolen part. The side that arrives
// second finds the mark of the first side there. So one exchange by each side decides which one goes on, without loop
// or lock.
//
//   thief arrives first:  run -> outcome         the owner finds the outcome and goes on
//   owner arrives first:  run -> waiter | 1      the thief finds the waiter and resumes it
//
// If the thief's exchange finds no waiting owner, the thief never touches the word, nor the frame around it, again.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/check.hpp"
#include "forkjoin/abi/relaxed.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct continuation;

/// How the stolen part ended. The values are told from addresses by their size.
enum class outcome : std::uintptr_t { returned = 2, threw = 4 };

/// What a thief calls. Aligned to 2 at least: bit 0 tells a waiter from a function.
using continuation_body = outcome (*)(continuation&) noexcept;

/// What a suspended owner brings along. The thief may look for the function only after the owner has put its mark over
/// it, so the owner keeps it here.
struct join_waiter {
  relaxed<continuation_body> awaited = nullptr;
};

class join {
 public:
  [[gnu::always_inline]] explicit join(continuation_body runs) noexcept
      : word_(reinterpret_cast<std::uintptr_t>(runs)) {
    FORKJOIN_CHECK(!is_waiter(word_.load(std::memory_order_relaxed)));
  }

  /// Has a thief call something else; before any can.
  void call_instead(continuation_body runs) noexcept {
    const auto word = reinterpret_cast<std::uintptr_t>(runs);
    FORKJOIN_CHECK(!is_waiter(word));
    word_.store(word, std::memory_order_relaxed);
  }

  // The thief's side, in this order.

  /// The function that runs the stolen part.
  continuation_body body() const noexcept {
    // acquire: pairs with the release in wait, so that the waiter's note is there
    const std::uintptr_t word = word_.load(std::memory_order_acquire);
    if (is_waiter(word)) return as_waiter(word)->awaited;
    return reinterpret_cast<continuation_body>(word);
  }

  /// Says that the stolen part is over. Returns the owner if it waits already: then the caller must resume it, else it
  /// must not touch the join again.
  join_waiter* arrive(outcome result) noexcept {
    // release: pairs with the acquires in finished, result and wait, by which the owner sees what the stolen part
    // wrote; acquire: pairs with the release in wait, by which the caller sees the owner's saved context
    const std::uintptr_t found = word_.exchange(static_cast<std::uintptr_t>(result), std::memory_order_acq_rel);
    return is_waiter(found) ? as_waiter(found) : nullptr;
  }

  // The owner's side.

  bool finished() const noexcept {
    // acquire: pairs with the release in arrive
    return is_outcome(word_.load(std::memory_order_acquire));
  }

  /// Only once finished.
  outcome result() const noexcept {
    // acquire: pairs with the releases in arrive and, if the owner came second, in wait
    const std::uintptr_t word = word_.load(std::memory_order_acquire);
    FORKJOIN_CHECK(is_outcome(word));
    return static_cast<outcome>(word);
  }

  /// Leaves `waiter` to be resumed by the thief. The waiter's context must be saved already: from here on it may run
  /// elsewhere. False when the thief was first: then no thread will resume it, and what the thief wrote is visible.
  bool wait(join_waiter& waiter) noexcept {
    std::uintptr_t word = word_.load(std::memory_order_acquire);  // acquire: pairs with the release in arrive
    if (!is_outcome(word)) {
      waiter.awaited = reinterpret_cast<continuation_body>(word);
      // release: pairs with the acquires in arrive and body, by which the thief sees the context and the note; acquire:
      // pairs with the release in arrive
      word = word_.exchange(reinterpret_cast<std::uintptr_t>(&waiter) | waiter_bit, std::memory_order_acq_rel);
      if (!is_outcome(word)) return true;
    }
    // The thief is through. release: pairs with the acquire in result, by which the owner sees what the thief wrote,
    // and reuses its frame after this look at it.
    word_.store(word, std::memory_order_release);
    return false;
  }

  /// Ends a join that no thief knows of.
  void settle(outcome result) noexcept {
    // relaxed: by this strand, or by one that its caller waits for
    word_.store(static_cast<std::uintptr_t>(result), std::memory_order_relaxed);
  }

 private:
  static constexpr std::uintptr_t waiter_bit = 1;

  static bool is_waiter(std::uintptr_t word) noexcept { return word & waiter_bit; }
  static bool is_outcome(std::uintptr_t word) noexcept { return word <= static_cast<std::uintptr_t>(outcome::threw); }
  static join_waiter* as_waiter(std::uintptr_t word) noexcept {
    return reinterpret_cast<join_waiter*>(word & ~waiter_bit);
  }

  os::atomic<std::uintptr_t> word_;
};

}}}  // namespace fj::v0_4::detail
