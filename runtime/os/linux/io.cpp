#include "runtime/os/io/io.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/os/io/uninterrupted.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

// A connection that its peer has given up already is none.
io accept_one(int listener) noexcept {
  for (;;) {
    const io made = uninterrupted([=] { return ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); });
    if (made.error != ECONNABORTED) return made;
  }
}

poll_result poll_descriptor(int descriptor, bool to_write, int wake_up, std::int64_t until) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const auto events = static_cast<short>(to_write ? POLLOUT : POLLIN | POLLRDHUP);
  pollfd both[] = {{descriptor, events, 0}, {wake_up, POLLIN, 0}};
  const io found = uninterrupted([&] {
    if (until == std::numeric_limits<std::int64_t>::max()) return ::poll(both, 2, -1);
    const std::int64_t time = std::max<std::int64_t>(until <= 0 ? 0 : until - now_ns(), 0);
    const timespec limit{static_cast<time_t>(time / second), static_cast<long>(time % second)};
    return ::ppoll(both, 2, &limit, nullptr);
  });
  if (found.error != 0) return {.error = found.error};
  if ((both[0].revents & POLLNVAL) != 0) return {.error = EBADF};
  if (both[0].revents != 0) return {.what = polled::ready};
  return {.what = both[1].revents != 0 ? polled::woken : polled::nothing};
}

}}}}  // namespace fj::v0_4::detail::os
