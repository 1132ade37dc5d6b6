// One wait of one strand, or of one thread outside of any runtime.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "../os/machine.hpp"
#include "../schedule/timer_heap.hpp"
#include "../sync/wait_end.hpp"
#include "../sync/wait_word.hpp"

namespace fj::inline v0_1::detail {

class scheduler;

/// Lies in the frame of the function that waits. A strand leaves its stack meanwhile, so that its worker does other work; a
/// thread outside of any runtime sleeps.
class waiter final : public wait_winners, private basic_timer<machine> {
 public:
  /// Sets aside what a strand takes to leave its stack and to arm a timer, at its P: the strand must not leave its stack between
  /// this and wait. Throws std::bad_alloc if the system refuses memory.
  explicit waiter(const wait_limits& limits);

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

 private:
  bool claim_wait() noexcept override { return claim(timed_out); }
  void sleep_outside() noexcept;
  void sleep_outside_for_good() noexcept;
  void leave_until_woken() noexcept;

  basic_wait_word<machine> word_;
  std::atomic<std::uint32_t> signalled_{0};  // for a thread outside
  scheduler* const scheduler_;               // the strand's; nullptr: a thread outside
  const std::stop_token* const stop_;
  const wait_place place_;
  bool keeps_worker_ = false;  // without memory to leave the stack
};

}  // namespace fj::inline v0_1::detail
