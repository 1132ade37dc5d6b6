// Points in time from what users give.
#pragma once

#include <chrono>
#include <type_traits>

#include "forkjoin/abi/os/clock.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The clock of all deadlines.
using deadline_clock = std::chrono::steady_clock;
using deadline = deadline_clock::time_point;

/// The time that does not come.
inline constexpr deadline no_deadline = (deadline::max)();

/// The time that waits go by: of that clock, or counted if threads take turns.
inline deadline now() noexcept { return deadline(std::chrono::nanoseconds(os::now_ns())); }

/// The time that lies d ahead, rounded up; no_deadline if the clock does not go so far. What is not positive is now.
template <class Rep, class Period>
deadline deadline_after(const std::chrono::duration<Rep, Period>& d) {
  const deadline now = detail::now();
  if (!(d > d.zero())) return now;  // a floating-point number may be none
  // As double, because the long ones of other units have no place in the clock's. What is below as double is below.
  using approximate = std::chrono::duration<double, deadline::period>;
  if (approximate(d) >= approximate(no_deadline - now)) return no_deadline;
  return now + std::chrono::ceil<deadline::duration>(d);
}

/// A time of any clock. Of another one than deadline_clock, as that clock goes now. What deadline_clock cannot show is
/// a time that has come, or no_deadline.
template <class Clock, class Duration>
deadline deadline_at(const std::chrono::time_point<Clock, Duration>& t) {
  using approximate = std::chrono::duration<double, deadline::period>;  // see deadline_after
  const approximate time(t.time_since_epoch());
  if (t >= (std::chrono::time_point<Clock, Duration>::max)()) return no_deadline;
  if constexpr (std::is_same_v<Clock, deadline_clock>) {
    constexpr deadline first = (deadline::min)();
    if (time >= approximate(no_deadline.time_since_epoch())) return no_deadline;
    if (!(time > approximate(first.time_since_epoch()))) return first;
    return std::chrono::ceil<deadline::duration>(t);
  } else {
    const auto now = Clock::now();
    const approximate ahead = time - approximate(now.time_since_epoch());
    if (!(ahead > approximate(std::chrono::seconds(-1)))) return detail::now();  // none is a second off
    if (ahead >= approximate(no_deadline - detail::now())) return no_deadline;
    if (time >= approximate((decltype(t - now)::max)())) return deadline_after(ahead);  // no place in their common unit
    return deadline_after(t - now);
  }
}

}}}  // namespace fj::v0_4::detail
