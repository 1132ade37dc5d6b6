// A counting semaphore that blocks the fiber, never its worker.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// Strands get permits first in, first out. A release gives its permits to strands that wait. Cost of each call,
/// without a wait: a lock.
class semaphore {
 public:
  /// Begins with so many permits; 0: the first strand waits for a release.
  explicit semaphore(std::uint64_t permits) noexcept : permits_(permits) {}
  /// Throws std::invalid_argument if the number is negative.
  explicit semaphore(std::signed_integral auto permits) : semaphore(not_negative(permits, "semaphore")) {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// Waits for a permit. Throws fj::cancelled if options.stop is asked to stop during the wait, fj::timed_out if the
  /// time options.until comes, std::bad_alloc if there is no memory for the wait.
  void acquire(wait_options options = {}) {
    detail::throw_if_limited(acquire_within(detail::limits_of(options, "fj::semaphore::acquire")));
  }
  /// Takes a permit if there is one; else false.
  [[nodiscard]] bool try_acquire() noexcept;

  /// Wait for a permit, but no longer than until that time. Throw std::bad_alloc if there is no memory for the wait.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& d,
                                     std::source_location at = std::source_location::current()) {
    return acquire_until(detail::deadline_after(d), at);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& t,
                                       std::source_location at = std::source_location::current()) {
    return acquire_until(detail::deadline_at(t), at);
  }

  /// Gives back, or adds, so many permits. There are at most 2^64 - 1 permits: what a release gives beyond that is
  /// lost.
  void release(std::uint64_t permits = 1) noexcept;
  /// Throws std::invalid_argument if the number is negative.
  void release(std::signed_integral auto permits) { release(not_negative(permits, "release")); }

 private:
  static std::uint64_t not_negative(std::signed_integral auto permits, const char* call) {
    if (permits < 0)
      throw std::invalid_argument(std::string("fj::semaphore::") + call + ": " + std::to_string(permits) +
                                  " permits; give 0 or more");
    return static_cast<std::uint64_t>(permits);
  }

  /// `served`: the caller has a permit.
  detail::wait_end acquire_within(const detail::wait_limits& limits);
  bool acquire_until(detail::deadline t, std::source_location at) {
    return acquire_within(detail::limits_until(t, "fj::semaphore::try_acquire_until", at)) == detail::wait_end::served;
  }

  detail::os::mutex guard_;
  std::uint64_t permits_ FORKJOIN_GUARDED_BY(guard_);
  detail::wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}  // namespace fj::v0_4
