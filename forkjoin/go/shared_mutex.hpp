// A mutex that readers share, and that blocks the fiber, never its worker.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>
#include <cstdint>
#include <source_location>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// Meets SharedTimedLockable: use it with std::unique_lock for writers and std::shared_lock for readers.
///
/// Fairness: first in, first out. A reader that comes after a waiting writer waits for that writer, so neither side
/// starves. Readers that are neighbors in the queue get the mutex together.
///
/// Each function throws what the function of the same name in fj::mutex throws, those for readers likewise. Not
/// recursive: a strand that locks what it has locked, also for reading while a writer waits, waits for itself. Cost of
/// each call, without a wait: a lock.
class shared_mutex {
 public:
  shared_mutex() noexcept = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  // Writers.

  void lock(wait_options options = {}) { lock_as(true, options, "fj::shared_mutex::lock"); }
  [[nodiscard]] bool try_lock() noexcept { return try_lock_as(true); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& d,
                                  std::source_location at = std::source_location::current()) {
    return lock_until(true, detail::deadline_after(d), at);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& t,
                                    std::source_location at = std::source_location::current()) {
    return lock_until(true, detail::deadline_at(t), at);
  }
  /// Ends the process with a message that names the call if no writer has the mutex; unlock_shared, if no reader has
  /// it.
  void unlock(std::source_location at = std::source_location::current()) noexcept {
    unlock_as(true, "fj::shared_mutex::unlock", at);
  }

  // Readers.
  void lock_shared(wait_options options = {}) { lock_as(false, options, "fj::shared_mutex::lock_shared"); }
  [[nodiscard]] bool try_lock_shared() noexcept { return try_lock_as(false); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& d,
                                         std::source_location at = std::source_location::current()) {
    return lock_until(false, detail::deadline_after(d), at);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& t,
                                           std::source_location at = std::source_location::current()) {
    return lock_until(false, detail::deadline_at(t), at);
  }
  void unlock_shared(std::source_location at = std::source_location::current()) noexcept {
    unlock_as(false, "fj::shared_mutex::unlock_shared", at);
  }

 private:
  bool try_lock_as(bool writes) noexcept;
  /// `served`: the caller has the mutex.
  detail::wait_end lock_within(bool writes, const detail::wait_limits& limits);
  /// `call` and `at`: for the message, if the mutex is not locked that way.
  void unlock_as(bool writes, const char* call, std::source_location at) noexcept;
  bool take(bool writes) noexcept FORKJOIN_REQUIRES(guard_);
  void admit(detail::claimed_waits& woken) noexcept FORKJOIN_REQUIRES(guard_);

  void lock_as(bool writes, const wait_options& options, const char* what) {
    detail::throw_if_limited(lock_within(writes, detail::limits_of(options, what)));
  }
  bool lock_until(bool writes, detail::deadline t, std::source_location at) {
    return lock_within(writes, detail::limits_until(t, "fj::shared_mutex::try_lock_until", at)) ==
           detail::wait_end::served;
  }

  detail::os::mutex guard_;
  std::uint64_t readers_ FORKJOIN_GUARDED_BY(guard_) = 0;
  bool writer_ FORKJOIN_GUARDED_BY(guard_) = false;
  // An entry's number says whether it writes.
  detail::wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}  // namespace fj::v0_4
