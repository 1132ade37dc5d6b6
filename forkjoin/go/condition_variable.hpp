// Waits, with a fj::mutex, for what other strands announce.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <source_location>
#include <string>
#include <system_error>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/go/mutex.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// As std::condition_variable, for fj::mutex. Only a notification ends a wait; there are no spurious wake-ups. But
/// another strand may have locked the mutex after the notification, so wait for a condition.
class condition_variable {
 public:
  condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Frees the lock, waits, and takes the lock again, however long that takes. Throws fj::cancelled if options.stop is
  /// asked to stop before a notification, fj::timed_out if the time options.until comes before one, std::bad_alloc if
  /// there is no memory for the wait. In these cases, too, the caller holds the lock. Throws std::system_error with
  /// std::errc::operation_not_permitted if `lock` holds no mutex. If the mutex that it holds is not locked, the process
  /// ends with a message that names the call.
  void wait(std::unique_lock<mutex>& lock, wait_options options = {}) {
    constexpr auto call = "fj::condition_variable::wait";
    detail::throw_if_limited(wait_within(held_by(lock, call), detail::limits_of(options, call)));
  }

  /// Waits until condition() holds. The lock is held during each call of condition. Throws what condition throws, and
  /// as wait; options.until is one time for the whole loop.
  template <class Condition>
  void wait(std::unique_lock<mutex>& lock, Condition condition, wait_options options = {}) {
    detail::maybe_yield();
    while (!condition()) wait(lock, options);
  }

  /// As wait, but these functions return whether the time came first, and do not throw fj::timed_out. Throw
  /// std::bad_alloc if there is no memory for the wait, and std::system_error as wait.
  template <class Clock, class Duration>
  std::cv_status wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& t,
                            std::source_location at = std::source_location::current()) {
    return wait_until_deadline(lock, detail::deadline_at(t), at);
  }
  template <class Rep, class Period>
  std::cv_status wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& d,
                          std::source_location at = std::source_location::current()) {
    return wait_until_deadline(lock, detail::deadline_after(d), at);
  }

  /// Wait until condition() holds, but no longer than until that time. Return the last result of condition(). Throw
  /// what condition throws, and what the functions above throw.
  template <class Clock, class Duration, class Condition>
  bool wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& t, Condition condition,
                  std::source_location at = std::source_location::current()) {
    return wait_until_deadline(lock, detail::deadline_at(t), condition, at);
  }
  template <class Rep, class Period, class Condition>
  bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& d, Condition condition,
                std::source_location at = std::source_location::current()) {
    return wait_until_deadline(lock, detail::deadline_after(d), condition, at);
  }

  /// Lets the strand that has waited longest go on. Nothing if none waits. With or without the mutex. Cost: a lock.
  void notify_one() noexcept;
  /// The same for all that wait.
  void notify_all() noexcept;

 private:
  /// `served`: a notification came.
  detail::wait_end wait_within(mutex& user, const detail::wait_limits& limits);
  static mutex& held_by(const std::unique_lock<mutex>& lock, const char* call) {
    if (!lock.owns_lock())
      throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                              std::string(call) + ": the lock holds no mutex; lock one with it before the wait");
    return *lock.mutex();
  }
  std::cv_status wait_until_deadline(std::unique_lock<mutex>& lock, detail::deadline t, std::source_location at) {
    constexpr auto call = "fj::condition_variable::wait_until";
    const auto end = wait_within(held_by(lock, call), detail::limits_until(t, call, at));
    return end == detail::wait_end::timed_out ? std::cv_status::timeout : std::cv_status::no_timeout;
  }
  template <class Condition>
  bool wait_until_deadline(std::unique_lock<mutex>& lock, detail::deadline t, Condition& condition,
                           std::source_location at) {
    detail::maybe_yield();
    while (!condition())
      if (wait_until_deadline(lock, t, at) == std::cv_status::timeout) return condition();
    return true;
  }

  detail::os::mutex guard_;
  detail::wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}  // namespace fj::v0_4
