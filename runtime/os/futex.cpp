#include "runtime/os/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace fj::inline v0_1::detail::os {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel waits on the word itself");

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// FUTEX_WAIT_BITSET takes a point in time of CLOCK_MONOTONIC, which is now_ns's clock.
bool futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t at) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  at = std::max<std::int64_t>(at, 0);
  const timespec end{static_cast<time_t>(at / second), static_cast<long>(at % second)};
  const int result = static_cast<int>(
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &end, nullptr, FUTEX_BITSET_MATCH_ANY));
  return !(result == -1 && errno == ETIMEDOUT);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace fj::inline v0_1::detail::os
