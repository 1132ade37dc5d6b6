// What every wait can be given as its last argument.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include <chrono>
#include <cstdint>

#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/detail/entry.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// For example c.receive({.until = std::chrono::steady_clock::now() + 5ms, .stop = &token}). A wait that need not wait looks at
/// neither. A wait that has begun is ended by one event alone: what it waits for, the time, or the stop.
struct wait_options {
  /// The wait ends at that time, never earlier, and throws fj::timed_out.
  std::chrono::steady_clock::time_point until = detail::no_deadline;
  /// Asked to stop, the wait ends and throws fj::cancelled.
  const stop_token* stop = nullptr;
};

namespace detail {

inline std::int64_t nanoseconds_of(deadline t) noexcept {
  return t == no_deadline ? never : std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

inline wait_limits limits_of(const wait_options& options) noexcept {
  return {.until = nanoseconds_of(options.until), .stop = options.stop};
}

inline wait_limits limits_until(deadline t) noexcept { return {.until = nanoseconds_of(t)}; }

/// Throws if a limit ended the wait.
inline void expect_no_limit(wait_end end) {
  if (end == wait_end::stopped) throw cancelled();
  if (end == wait_end::timed_out) throw timed_out();
}

}  // namespace detail

}  // namespace fj::inline v0_1

#endif
