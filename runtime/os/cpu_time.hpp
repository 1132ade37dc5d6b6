// The time for which a processor has run a thread or the process.
#pragma once

#include <ctime>

#include <cstdint>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

inline std::int64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Nanoseconds of the calling thread. A system call: some 400 ns.
inline std::int64_t thread_cpu_ns() noexcept { return os::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

/// Nanoseconds of all threads of the process.
inline std::int64_t process_cpu_ns() noexcept { return os::nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID); }

}}}}  // namespace fj::v0_2::detail::os
