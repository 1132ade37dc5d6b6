// Monotonic time for workers that spin and for waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "turns.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// Nanoseconds of a monotonic clock. Some 20 to 30 ns a call.
inline std::int64_t now_ns() noexcept {
  if constexpr (turns::exist)
    if (turns* const all = turns::mine()) [[unlikely]]
      return all->now_ns();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Sleeps for about so long.
inline void sleep_ns(std::int64_t nanoseconds) noexcept {
  if constexpr (turns::exist)
    if (turns* const all = turns::mine()) [[unlikely]]
      return all->sleep_for(nanoseconds);
  std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
}

}}}}  // namespace fj::v0_2::detail::os
