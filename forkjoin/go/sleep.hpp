// Waits for a time alone.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/sleep.hpp"
#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

inline void sleep_until(deadline t, const wait_options& options) {
  throw_if_limited(detail::sleep_until(nanoseconds_of(t), limits_of(options, "fj::sleep_until")));
}

}  // namespace detail

/// The time by which waits and sleeps end: that of std::chrono::steady_clock, which is counted and not measured if
/// threads take turns (options::schedule). So {.until = fj::now() + 5ms} is the same in each run of a schedule.
inline std::chrono::steady_clock::time_point now() noexcept { return detail::now(); }

/// Sleeps for at least so long. The fiber leaves its stack, also inside a tree of forks, and its worker does other
/// work; a thread outside any runtime sleeps. Returns at once if d is not positive, or no number. Throws fj::cancelled
/// if options.stop is asked to stop during the sleep, fj::timed_out if the time options.until comes first,
/// std::bad_alloc if there is no memory for the wait.
///
/// If a worker of the runtime is idle, the sleep ends late by the time of a wake-up. If all workers are busy, the sleep
/// ends when one of them looks for work or changes fibers, or when the monitor fires the timer; the fiber then waits
/// for a P. Code that neither forks nor waits keeps its P, and delays the end of the sleep.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& d, wait_options options = {}) {
  detail::maybe_yield();
  if (d > d.zero()) detail::sleep_until(detail::deadline_after(d), options);
}

/// Sleeps until Clock::now() >= t, also if that clock is set back meanwhile; if it is set forward, the sleep lasts as
/// long as it would have. Returns at once if t has come, or is no number. All else as sleep_for.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& t, wait_options options = {}) {
  detail::maybe_yield();
  // Again and again: another clock may be set back during the sleep. Where time is counted, another one does not go on
  // meanwhile.
  for (detail::deadline end = detail::deadline_at(t); end > detail::now(); end = detail::deadline_at(t)) {
    detail::sleep_until(end, options);
    if (detail::os::takes_turns()) return;
  }
}

}}  // namespace fj::v0_4
