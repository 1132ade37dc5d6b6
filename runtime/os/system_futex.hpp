// The system's own sleeps until a word changes. The library's (futex.hpp) take turns where threads do.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Sleeps while `word` holds `expected`, no longer than until `at` of CLOCK_MONOTONIC; may return early. False if that
/// time has come.
bool system_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t at = (std::numeric_limits<std::int64_t>::max)()) noexcept;

/// Wakes one sleeper of `word`, or all. The word may be gone already: its address is only a key.
void system_futex_wake(const std::atomic<std::uint32_t>& word, bool all = false) noexcept;

}}}}  // namespace fj::v0_4::detail::os
