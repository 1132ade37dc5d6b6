// Reading, writing and connecting without a wait, and the wait of a thread for one descriptor.
#pragma once

#include <cstddef>
#include <cstdint>

struct sockaddr;

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// What a system call did: what it returned, or the errno of its failure. EAGAIN: it would have to wait. No call here
/// fails with EINTR.
struct io {
  std::size_t result = 0;
  int error = 0;
};

/// Closed at its end.
class owned_descriptor {
 public:
  explicit owned_descriptor(int number = -1) noexcept : number_(number) {}
  owned_descriptor(owned_descriptor&& other) noexcept;
  owned_descriptor& operator=(owned_descriptor&& other) noexcept;
  ~owned_descriptor();
  int number() const noexcept { return number_; }
  void release() noexcept { number_ = -1; }

 private:
  int number_;
};

/// 0, or the errno of what failed.
int make_nonblocking(int descriptor) noexcept;
bool is_socket(int descriptor) noexcept;
void close_descriptor(int descriptor) noexcept;
/// Another number for what is open there; its result is the number.
io duplicate(int descriptor) noexcept;

io read_some(int descriptor, void* into, std::size_t size) noexcept;
/// On a socket without SIGPIPE.
io write_some(int descriptor, const void* from, std::size_t size, bool to_socket) noexcept;
/// The result is the number of the connection's descriptor, which does not block.
io accept_one(int listener) noexcept;
/// Error 0: connected; EINPROGRESS: under way.
int begin_connect(int socket, const ::sockaddr* address, std::size_t length) noexcept;
/// How it ended; EINPROGRESS: not yet.
int end_connect(int socket) noexcept;

enum class polled { nothing, ready, woken };

struct poll_result {
  polled what = polled::nothing;
  int error = 0;
};

/// Waits until the descriptor is readable (or writable), until the wake-up is signaled, or for the time `until` of
/// now_ns. Numbers below 0 are left out. EBADF: there is no such descriptor.
poll_result poll_descriptor(int descriptor, bool to_write, int wake_up, std::int64_t until) noexcept;

}}}}  // namespace fj::v0_4::detail::os
