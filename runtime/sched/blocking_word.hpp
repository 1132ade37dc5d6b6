// Whether the strand of a P is in a blocking call, and which of two comes first: the strand that returns from the call,
// or a thread that takes its P (a retaker).
//
//   even   the strand runs, or the P is idle
//   odd    the strand is in a call
//
// Both sides try to exchange the same odd value for the next even one, and one of them succeeds:
//
//   the strand    it still has its P, as if nothing had happened
//   a retaker     it holds the P from then on, and the strand looks for another
//
// The word only grows. So a retaker learns whether the call is the one that it saw before, and it cannot take the P of
// a call that is over. Source: exitsyscall and retake in Go's runtime/proc.go, with its counter of system calls.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/blocking.hpp"
#include "forkjoin/abi/check.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
struct processor;

class blocking_word {
 public:
  /// Names one call.
  using call = std::uint64_t;
  static constexpr call none = 0;

  // The strand.

  /// What the P needs for its next strand must be there: from here on a retaker may hold it.
  call begin(fiber& f) noexcept {
    const call begun = word_.load(std::memory_order_relaxed) + 1;
    FORKJOIN_CHECK(begun % 2 == 1);
    strand_.store(&f, std::memory_order_relaxed);
    word_.store(begun, std::memory_order_release);  // release: pairs with the acquire in retake
    return begun;
  }

  /// Whether the strand has its P still. relaxed: a strand that has lost it takes the dispatcher's mutex next.
  [[nodiscard]] bool end(call begun) noexcept {
    return word_.compare_exchange_strong(begun, begun + 1, std::memory_order_relaxed, std::memory_order_relaxed);
  }

  // Those that would take the P.

  /// The call that the strand is in, or `none`.
  call now() const noexcept {
    const call seen = word_.load(std::memory_order_relaxed);
    return seen % 2 == 1 ? seen : none;
  }

  /// Takes the P, if the strand is in that call still: returns the strand, else nullptr. With the dispatcher's mutex,
  /// so that a strand that comes back meanwhile finds its records where the retaker has put them.
  [[nodiscard]] fiber* retake(call seen) noexcept {
    // acquire: pairs with the release in begin: the P is as the strand left it
    if (!word_.compare_exchange_strong(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed))
      return nullptr;
    return strand_.load(std::memory_order_relaxed);
  }

 private:
  os::atomic<call> word_{0};
  os::atomic<fiber*> strand_{nullptr};
};

}}}  // namespace fj::v0_4::detail
