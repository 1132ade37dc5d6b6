// A wait for an operation that always completes, though it may have been asked to stop: it uses the frame of the wait
// until then.
#pragma once

#include "forkjoin/abi/waiter.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// One wait, as by a waiter, and a second one if a limit ends the first. The operation's end claims the first wait,
/// else the second, which has no limit: so exactly one of the two ends by it, and the other is not touched any more.
class operation_wait {
 public:
  /// Errors: as the constructor of a waiter.
  explicit operation_wait(const wait_limits& limits) : first_(limits), last_({.place = limits.place}) {}
  operation_wait(const operation_wait&) = delete;
  operation_wait& operator=(const operation_wait&) = delete;

  /// The operation has completed, and has stored its results. Once, from any thread. This object may be gone when it
  /// returns.
  void end() noexcept {
    waiter& waits = first_.claim(0) ? first_ : last_;
    if (&waits == &last_) static_cast<void>(last_.claim(0));
    waits.wake();
  }

  /// Returns once `end` has been called, and sees the results. Calls ask_to_stop() if a limit comes first. What ended
  /// the first wait.
  template <class AskToStop>
  wait_end wait(AskToStop ask_to_stop) {
    first_.set_aside_again();  // what the operation begins with may have waited
    const wait_end ended = waiter::end_by(first_.wait());
    if (ended != wait_end::served) {
      ask_to_stop();
      last_.set_aside_again();
      last_.wait();
    }
    return ended;
  }

 private:
  waiter first_;  // with the limits
  waiter last_;   // after a limit
};

}}}  // namespace fj::v0_4::detail
