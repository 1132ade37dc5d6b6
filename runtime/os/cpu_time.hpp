// The time for which a CPU has run a thread.
#pragma once

#include <ctime>

#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Nanoseconds of the calling thread. A system call: about 400 ns.
inline std::int64_t thread_cpu_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}}}}  // namespace fj::v0_4::detail::os
