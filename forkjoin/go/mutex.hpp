// A mutex that blocks the fiber, never its worker.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <atomic>
#include <chrono>
#include <source_location>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/mutex_protocol.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// Ends the process: that call unlocks a mutex that is not locked, or not locked as it expects.
[[noreturn, gnu::cold]] void report_not_locked(const char* call, std::source_location at) noexcept;

}  // namespace detail

/// Meets TimedLockable: use it with std::unique_lock, std::scoped_lock. A fiber that waits leaves its stack, and its
/// worker does other work; a thread outside any runtime sleeps. The strand that has locked the mutex must unlock it,
/// and may do so on another thread. Not recursive.
///
/// Fairness: a strand may take a free mutex ahead of strands that wait. A strand that has waited for 1 ms gets the
/// mutex at the next unlock after which no other is already on its way to it. Strands that wait are woken first in,
/// first out.
///
/// Cost: one atomic operation to lock and one to unlock, if no other strand wants the mutex.
class mutex {
 public:
  mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// A strand that has the mutex waits for itself. Throws fj::cancelled if options.stop is asked to stop during the
  /// wait, fj::timed_out if the time options.until comes, std::bad_alloc if there is no memory for the wait.
  void lock(wait_options options = {}) {
    detail::throw_if_limited(lock_within(detail::limits_of(options, "fj::mutex::lock")));
  }
  /// Locks the mutex if it is free; else false, also if the calling strand has it.
  [[nodiscard]] bool try_lock() noexcept {
    if (rules_.try_lock()) return true;
    detail::maybe_yield();
    return false;
  }

  /// Wait for the mutex, but no longer than until that time; false if it did not come. Throw std::bad_alloc if there is
  /// no memory for the wait.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& d,
                                  std::source_location at = std::source_location::current()) {
    return lock_until(detail::deadline_after(d), at);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t,
                                    std::source_location at = std::source_location::current()) {
    return lock_until(detail::deadline_at(t), at);
  }

  /// Ends the process with a message that names the call if the mutex is not locked.
  void unlock(std::source_location at = std::source_location::current()) noexcept {
    if (!rules_.unlock()) detail::report_not_locked("fj::mutex::unlock", at);
  }

 private:
  friend class condition_variable;

  /// `served`: the caller has the mutex.
  [[nodiscard]] detail::wait_end lock_within(const detail::wait_limits& limits) {
    if (detail::yield_requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return give_way_and_lock(limits);
    return rules_.lock(limits);
  }
  detail::wait_end give_way_and_lock(const detail::wait_limits& limits);
  /// Waits for memory, too. `place`: of the call that waits, for reports.
  void lock_surely(const detail::wait_place& place) noexcept;

  bool lock_until(detail::deadline t, std::source_location at) {
    return lock_within(detail::limits_until(t, "fj::mutex::try_lock_until", at)) == detail::wait_end::served;
  }

  detail::mutex_protocol rules_;
};

}}  // namespace fj::v0_4
