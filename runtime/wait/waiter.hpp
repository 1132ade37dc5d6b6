// One wait of one strand, or of one thread outside of any runtime.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "../os/machine.hpp"
#include "wait_word.hpp"

namespace fj::inline v0_1::detail {

class scheduler;

/// Lies in the frame of the function that waits. A strand leaves its stack meanwhile, so that its worker does other work; a
/// thread outside of any runtime sleeps.
class waiter {
 public:
  /// Sets aside what a strand takes to leave its stack. Throws std::bad_alloc if the system refuses memory.
  waiter();
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  // Those that would end the wait, from any thread.

  /// Whether the caller is the first to end this wait; then it must call wake.
  [[nodiscard]] bool claim(unsigned by) noexcept { return word_.claim(by); }

  /// By the claimant. The waiter may be gone when this returns.
  void wake() noexcept;

  // The strand or thread that waits.

  /// Returns what the claimant gave, once the claimant has called wake. The strand may be on another thread then.
  unsigned wait() noexcept;

 private:
  basic_wait_word<machine> word_;
  std::atomic<std::uint32_t> signalled_{0};  // for a thread outside
  scheduler* const scheduler_;               // the strand's; nullptr: a thread outside
};

/// Ends a wait when its token is asked to stop. Nothing if there is no token.
class stops_wait {
 public:
  /// What wait returns then.
  static constexpr unsigned stopped = ~0u - 1;

  stops_wait(waiter& w, const std::stop_token* token) {
    if (token) callback_.emplace(*token, claims{w});
  }

 private:
  struct claims {
    waiter& of;
    void operator()() const noexcept {
      if (of.claim(stopped)) of.wake();
    }
  };
  std::optional<std::stop_callback<claims>> callback_;
};

}  // namespace fj::inline v0_1::detail
