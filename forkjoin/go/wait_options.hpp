// The last argument that every wait takes.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>
#include <cstdint>
#include <source_location>

#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

/// A time of any clock at which a wait ends. One of another clock than std::chrono::steady_clock counts as that clock
/// goes when this is made: if it is set meanwhile, the wait does not follow. A time that is no number (NaN) has come;
/// one that the clock does not reach never comes. So it is with every duration and time that a wait takes;
/// fj::sleep_until alone sleeps on if its clock was set back.
class time_limit {
 public:
  /// None.
  constexpr time_limit() noexcept = default;
  template <class Clock, class Duration>
  time_limit(const std::chrono::time_point<Clock, Duration>& t) : until_(detail::deadline_at(t)) {}

  /// By std::chrono::steady_clock.
  constexpr std::chrono::steady_clock::time_point time() const noexcept { return until_; }

 private:
  detail::deadline until_ = detail::no_deadline;
};

/// For example c.receive({.until = std::chrono::steady_clock::now() + 5ms, .stop = &token}). An operation that need not
/// wait ignores both. Exactly one event ends a wait that has begun: the event that it waits for, the time, or the stop.
struct wait_options {
  /// The wait ends at that time, never earlier, and throws fj::timed_out.
  time_limit until = {};
  /// When this token is asked to stop, the wait ends and throws fj::cancelled.
  const stop_token* stop = nullptr;
  /// Where the wait is called, for fj::print_fibers; if you keep the options, where they were made. Do not set it.
  std::source_location at = std::source_location::current();
};

namespace detail {

inline std::int64_t nanoseconds_of(deadline t) noexcept {
  return t == no_deadline ? never : std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

/// `what`: the public function that waits.
inline wait_limits limits_of(const wait_options& options, const char* what) noexcept {
  return {.until = nanoseconds_of(options.until.time()), .stop = options.stop, .place = {what, options.at}};
}

inline wait_limits limits_until(deadline t, const char* what, std::source_location at) noexcept {
  return {.until = nanoseconds_of(t), .place = {what, at}};
}

/// Throws if a limit ended the wait.
inline void throw_if_limited(wait_end end) {
  if (end == wait_end::stopped) throw cancelled();
  if (end == wait_end::timed_out) throw timed_out();
}

}  // namespace detail

}}  // namespace fj::v0_4
