// Monotonic time for workers that spin and for waits. By POSIX's functions: each program that includes a loop includes this, and <chrono> and
// <thread> would be a tenth of its time to compile.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "turns.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// Nanoseconds of a monotonic clock, which is std::chrono::steady_clock's: deadlines are in its time. Some 20 to 30 ns a call.
inline std::int64_t now_ns() noexcept {
  if constexpr (turns::exist)
    if (turns* const all = turns::mine()) [[unlikely]]
      return all->now_ns();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

/// Sleeps for about so long, also if signals come; not at all where the system refuses to, as a filter of system calls may.
inline void sleep_ns(std::int64_t nanoseconds) noexcept {
  if constexpr (turns::exist)
    if (turns* const all = turns::mine()) [[unlikely]]
      return all->sleep_for(nanoseconds);
  timespec left{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  while (nanoseconds > 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

}}}}  // namespace fj::v0_2::detail::os
