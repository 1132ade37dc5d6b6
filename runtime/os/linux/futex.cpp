#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "runtime/os/system_futex.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "the kernel waits on the word itself");

// FUTEX_WAIT_BITSET takes a point in time of CLOCK_MONOTONIC.
bool system_futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t at) noexcept {
  if (at == std::numeric_limits<std::int64_t>::max()) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
    return true;
  }
  constexpr std::int64_t second = 1'000'000'000;
  at = std::max<std::int64_t>(at, 0);
  const timespec end{static_cast<time_t>(at / second), static_cast<long>(at % second)};
  const int result = static_cast<int>(
      syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &end, nullptr, FUTEX_BITSET_MATCH_ANY));
  return !(result == -1 && errno == ETIMEDOUT);
}

void system_futex_wake(const std::atomic<std::uint32_t>& word, bool all) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, all ? INT_MAX : 1, nullptr, nullptr, 0);
}

}}}}  // namespace fj::v0_4::detail::os
