// Monotonic time for workers that spin and for waits. By POSIX's functions: each program that includes a loop includes
// this, and <chrono> and <thread> would be a tenth of its time to compile.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

// Threads may take turns: runtime/os/turns.hpp. Then their time is counted. A serial program has no library that does
// so.

#ifdef FORKJOIN_SERIAL

constexpr bool takes_turns() noexcept { return false; }
constexpr std::int64_t counted_ns() noexcept { return 0; }

#else

class turns;

/// nullptr as long as no threads take turns.
extern std::atomic<turns*> turns_taken;

bool takes_turns_slow() noexcept;

/// Whether the calling thread does. Read where a thread spins or looks at the clock, never by a fork that is not
/// stolen.
inline bool takes_turns() noexcept {
  // relaxed: only threads read it that take turns; those begin after the store, by the thread that made it
  return turns_taken.load(std::memory_order_relaxed) && takes_turns_slow();
}

/// The time of a thread that does.
std::int64_t counted_ns() noexcept;

#endif

/// Nanoseconds of a monotonic clock, which is std::chrono::steady_clock's: deadlines are in its time. Some 20 to 30 ns
/// a call.
inline std::int64_t now_ns() noexcept {
  if (takes_turns()) [[unlikely]]
    return counted_ns();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}}}}  // namespace fj::v0_4::detail::os
