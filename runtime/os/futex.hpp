// Sleeping until a word changes.
#pragma once

#include <atomic>
#include <cstdint>

namespace fj::inline v0_1::detail::os {

/// Sleeps while `word` holds `expected`; may return early, so callers loop.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// The same, but no longer than until `at`, by os::now_ns. False if that time has come.
bool futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t at) noexcept;

/// Wakes one sleeper of `word`. The word may be gone already: the kernel uses the address only as a key.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace fj::inline v0_1::detail::os
