// How a thread waits that spins, or sleeps for a time.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "runtime/os/turns.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Tells the CPU that this is a spin loop (PAUSE, YIELD): frees the sibling hyperthread, saves power.
inline void pause() noexcept {
  if (turns* const all = turns::mine()) [[unlikely]]
    return all->pass();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Sleeps for about so long, also if signals come; not at all where the system refuses to, as a filter of system calls
/// may.
inline void sleep_ns(std::int64_t nanoseconds) noexcept {
  if (turns* const all = turns::mine()) [[unlikely]]
    return all->sleep_for(nanoseconds);
  timespec left{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  while (nanoseconds > 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

/// Gives the rest of this thread's time slice to others.
void yield_thread() noexcept;

}}}}  // namespace fj::v0_4::detail::os
