// Descriptors for tests: pipes, pairs of sockets, and TCP on the loopback.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

#include "forkjoin/go.hpp"

namespace test {

struct pair_of_descriptors {
  fj::descriptor first, second;
};

/// `first` is read, `second` written.
inline pair_of_descriptors make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  return {fj::descriptor(ends[0]), fj::descriptor(ends[1])};
}

inline pair_of_descriptors make_socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  return {fj::descriptor(ends[0]), fj::descriptor(ends[1])};
}

/// An address of the loopback that is this process's own, so that no test that runs beside it connects to a port that
/// one here has left or will get. (All of 127/8 is the loopback, and a process number has at most 22 bits.)
inline in_addr own_loopback() {
  const auto process = static_cast<in_addr_t>(getpid());
  return {htonl((in_addr_t{IN_LOOPBACKNET} << 24) + 2 * process + 1)};
}

/// Listens on a free port of the loopback, and knows its address.
struct listener {
  explicit listener(int backlog = 128) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.sin_family = AF_INET;
    address.sin_addr = own_loopback();
    socklen_t size = sizeof(address);
    const int number = socket.native_handle();
    if (bind(number, generic(), size) != 0 || listen(number, backlog) != 0 ||
        getsockname(number, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      std::abort();
  }

  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }

  /// A socket that is connected to it.
  fj::descriptor connect(fj::wait_options options = {}) const {
    fj::descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    fj::connect(made, generic(), sizeof(address), options);
    return made;
  }

  fj::descriptor socket;
  sockaddr_in address{};
};

/// Reads exactly so much; false if the end comes before.
inline bool read_all(const fj::descriptor& from, void* into, std::size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const std::size_t got = fj::read(from, at, size);
    if (got == 0) return false;
    at += got;
    size -= got;
  }
  return true;
}

}  // namespace test
