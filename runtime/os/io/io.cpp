#include "runtime/os/io/io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <utility>

#include "forkjoin/abi/os/clock.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

namespace {

// A signal handler may run at any time; what it interrupted begins again.
template <class Call>
io uninterrupted(Call call) noexcept {
  for (;;) {
    const auto result = call();
    if (result >= 0) return {.result = static_cast<std::size_t>(result)};
    if (errno != EINTR) return {.error = errno};
  }
}

}  // namespace

owned_descriptor::owned_descriptor(owned_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

owned_descriptor& owned_descriptor::operator=(owned_descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

owned_descriptor::~owned_descriptor() {
  if (number_ >= 0) close_descriptor(number_);
}

int make_nonblocking(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return errno;
  if ((flags & O_NONBLOCK) != 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0) return 0;
  return errno;
}

bool is_socket(int descriptor) noexcept {
  int type = 0;
  socklen_t size = sizeof(type);
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// Not again after EINTR: Linux has freed the number by then, and another thread may have it.
void close_descriptor(int descriptor) noexcept { ::close(descriptor); }

io duplicate(int descriptor) noexcept {
  return uninterrupted([=] { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); });
}

io read_some(int descriptor, void* into, std::size_t size) noexcept {
  return uninterrupted([=] { return ::read(descriptor, into, size); });
}

io write_some(int descriptor, const void* from, std::size_t size, bool to_socket) noexcept {
  return uninterrupted(
      [=] { return to_socket ? ::send(descriptor, from, size, MSG_NOSIGNAL) : ::write(descriptor, from, size); });
}

// A connection that its peer has given up already is none.
io accept_one(int listener) noexcept {
  for (;;) {
    const io made = uninterrupted([=] { return ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); });
    if (made.error != ECONNABORTED) return made;
  }
}

int begin_connect(int socket, const ::sockaddr* address, std::size_t length) noexcept {
  if (::connect(socket, address, static_cast<socklen_t>(length)) == 0) return 0;
  return errno == EINTR ? EINPROGRESS : errno;
}

int end_connect(int socket) noexcept {
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  if (error != 0) return error == EALREADY ? EINPROGRESS : error;
  sockaddr_storage peer;
  socklen_t length = sizeof(peer);
  if (getpeername(socket, reinterpret_cast<::sockaddr*>(&peer), &length) == 0) return 0;
  return errno == ENOTCONN ? EINPROGRESS : errno;
}

io make_wake_up() noexcept {
  return uninterrupted([] { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); });
}

void signal_wake_up(int descriptor) noexcept {
  const eventfd_t one = 1;
  uninterrupted([&] { return ::write(descriptor, &one, sizeof(one)); });
}

void take_wake_up(int descriptor) noexcept {
  eventfd_t count = 0;
  uninterrupted([&] { return ::read(descriptor, &count, sizeof(count)); });
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

}}}}  // namespace fj::v0_2::detail::os
