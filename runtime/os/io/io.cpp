#include "runtime/os/io/io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/os/io/uninterrupted.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

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
  if (errno != ENOTCONN) return errno;
  // Closed again, if another call on the socket has taken the error.
  pollfd now{socket, POLLOUT, 0};
  if (::poll(&now, 1, 0) <= 0 || (now.revents & (POLLHUP | POLLERR)) == 0) return EINPROGRESS;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error != 0 ? error : ENOTCONN;
}

}}}}  // namespace fj::v0_4::detail::os
