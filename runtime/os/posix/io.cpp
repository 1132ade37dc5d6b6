#include "runtime/os/io/io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "runtime/os/io/uninterrupted.hpp"
#include "runtime/os/posix/milliseconds.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

// A connection that its peer has given up already is none.
io accept_one(int listener) noexcept {
  for (;;) {
    const io made = uninterrupted([=] { return ::accept(listener, nullptr, nullptr); });
    if (made.error == ECONNABORTED) continue;
    if (made.error != 0) return made;
    const int number = static_cast<int>(made.result);
    int error = fcntl(number, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) error = make_nonblocking(number);
    if (error == 0) return made;
    close_descriptor(number);
    return {.error = error};
  }
}

poll_result poll_descriptor(int descriptor, bool to_write, int wake_up, std::int64_t until) noexcept {
  const auto events = static_cast<short>(to_write ? POLLOUT : POLLIN);
  pollfd both[] = {{descriptor, events, 0}, {wake_up, POLLIN, 0}};
  const io found = uninterrupted([&] { return ::poll(both, 2, milliseconds_until(until)); });
  if (found.error != 0) return {.error = found.error};
  if ((both[0].revents & POLLNVAL) != 0) return {.error = EBADF};
  if (both[0].revents != 0) return {.what = polled::ready};
  return {.what = both[1].revents != 0 ? polled::woken : polled::nothing};
}

}}}}  // namespace fj::v0_4::detail::os
