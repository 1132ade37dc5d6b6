// Descriptors of the system: read, write, accept and connect. A fiber that waits leaves its worker to other fibers.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <cstddef>
#include <system_error>
#include <utility>

#include "forkjoin/abi/descriptor.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/go/wait_options.hpp"

struct sockaddr;

namespace fj { inline namespace v0_4 {

namespace detail {
struct descriptor_access;
}

/// Owns a descriptor of the system: a socket, a pipe, a terminal, an eventfd. Move-only: an object that was moved from
/// owns none, and each operation on it reports std::errc::bad_file_descriptor. Any number of fibers, and of threads
/// outside any runtime, may use it at once; several may read at once, or write at once. At each event all that wait try
/// again, and those that find nothing continue to wait.
///
/// While a fiber waits, also inside a tree of forks, its worker does other work. The first such wait in a runtime opens
/// three descriptors, an epoll and two eventfds, which stay open until the runtime ends. A thread outside any runtime
/// waits by poll(2), and opens an eventfd for the time of the wait.
///
/// Regular files have no events: reads and writes of them block their thread.
///
/// The operations are the functions below this class. Each has two forms. One form throws: std::system_error with the
/// system's error, fj::timed_out if the time options.until comes during the wait, fj::cancelled if options.stop is
/// asked to stop during the wait. The other form sets `error`: to the system's error, to std::errc::timed_out, to
/// std::errc::operation_canceled; without an error it clears `error`. Both report std::errc::bad_file_descriptor if the
/// descriptor is closed before or during the operation, and std::errc::too_many_files_open if a first wait needs a
/// descriptor and the system refuses one. Both throw std::bad_alloc if there is no memory for the wait. An operation
/// that need not wait ignores both limits. Cost without a wait: the system call, and four uncontended atomic
/// operations.
class descriptor {
 public:
  /// Owns none.
  descriptor() noexcept = default;
  /// Owns the descriptor with that number, and makes it non-blocking (O_NONBLOCK), also for other processes that share
  /// it. Throws std::system_error if there is no such descriptor, and std::bad_alloc; then the caller still owns it,
  /// and it may be non-blocking.
  explicit descriptor(int number) : watched_(&detail::open_descriptor(number)) {}
  descriptor(descriptor&& other) noexcept : watched_(std::exchange(other.watched_, nullptr)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor taken(std::move(other));
    swap(taken);
    return *this;
  }
  /// Closes the descriptor. As with any object, no operation may begin while the destructor runs.
  ~descriptor() {
    if (watched_) detail::drop_descriptor(*watched_);
  }
  void swap(descriptor& other) noexcept { std::swap(watched_, other.watched_); }

  /// Closes the descriptor. All waits for it end with std::errc::bad_file_descriptor, and so does every later
  /// operation. The system gets the number back when the last running operation has ended, so no operation can meet
  /// another descriptor with the same number. close may be called at any time, and several times.
  void close() noexcept {
    if (watched_) detail::close_descriptor(*watched_);
  }

  /// The number, for other system calls; -1 if this object owns no descriptor or is closed.
  int native_handle() const noexcept { return watched_ ? detail::number_of(*watched_) : -1; }
  explicit operator bool() const noexcept { return native_handle() != -1; }

 private:
  friend struct detail::descriptor_access;

  explicit descriptor(detail::watched* made) noexcept : watched_(made) {}

  detail::watched* watched_ = nullptr;
};

namespace detail {

struct descriptor_access {
  static watched* of(const descriptor& d) noexcept { return d.watched_; }
  static descriptor make(watched* made) noexcept { return descriptor(made); }
};

/// Throws if the operation failed.
inline std::size_t expect_done(const io_end& end, const char* what) {
  throw_if_limited(end.limit);
  if (end.error != 0) throw std::system_error(end.error, std::system_category(), what);
  return end.count;
}

/// The same as an error code.
inline std::size_t tell(const io_end& end, std::error_code& error) noexcept {
  error.clear();
  if (end.error != 0) error.assign(end.error, std::system_category());
  if (end.limit == wait_end::stopped) error = std::make_error_code(std::errc::operation_canceled);
  if (end.limit == wait_end::timed_out) error = std::make_error_code(std::errc::timed_out);
  return end.count;
}

}  // namespace detail

/// Waits until there is something to read, and reads at most `size` bytes of it. Returns the number of bytes: 0 at the
/// end of the input (the peer has closed), or if size is 0. Errors: as fj::descriptor says.
inline std::size_t read(const descriptor& from, void* into, std::size_t size, wait_options options = {}) {
  return detail::expect_done(
      detail::read_from(detail::descriptor_access::of(from), into, size, detail::limits_of(options, "fj::read")),
      "fj::read");
}
inline std::size_t read(const descriptor& from, void* into, std::size_t size, std::error_code& error,
                        wait_options options = {}) {
  return detail::tell(
      detail::read_from(detail::descriptor_access::of(from), into, size, detail::limits_of(options, "fj::read")),
      error);
}

/// Writes all `size` bytes, and waits for room as often as necessary. Returns the number of bytes written, also if it
/// sets `error`; after an exception that number is unknown. If several strands write at once, the parts may mix. If the
/// peer of a socket has closed, the error is std::errc::broken_pipe, without SIGPIPE. If the reader of a pipe has
/// closed, the system also sends SIGPIPE, which the program must handle. Other errors: as fj::descriptor says.
inline std::size_t write(const descriptor& to, const void* from, std::size_t size, wait_options options = {}) {
  return detail::expect_done(
      detail::write_to(detail::descriptor_access::of(to), from, size, detail::limits_of(options, "fj::write")),
      "fj::write");
}
inline std::size_t write(const descriptor& to, const void* from, std::size_t size, std::error_code& error,
                         wait_options options = {}) {
  return detail::tell(
      detail::write_to(detail::descriptor_access::of(to), from, size, detail::limits_of(options, "fj::write")), error);
}

/// Waits for a connection to a listening socket, and returns a descriptor for it, which does not block its thread and
/// is closed by exec. If it sets `error`, the returned object owns none. If the process has no free number, it reports
/// std::errc::too_many_files_open at once, without a wait. Other errors: as fj::descriptor says.
inline descriptor accept(const descriptor& listener, wait_options options = {}) {
  detail::io_end end;
  detail::watched* const made =
      detail::accept_from(detail::descriptor_access::of(listener), detail::limits_of(options, "fj::accept"), end);
  detail::expect_done(end, "fj::accept");
  return detail::descriptor_access::make(made);
}
inline descriptor accept(const descriptor& listener, std::error_code& error, wait_options options = {}) {
  detail::io_end end;
  detail::watched* const made =
      detail::accept_from(detail::descriptor_access::of(listener), detail::limits_of(options, "fj::accept"), end);
  detail::tell(end, error);
  return detail::descriptor_access::make(made);
}

/// Connects a socket, and waits until it is connected. After an error, a deadline or a stop the socket cannot be used:
/// close it. If the queue of a local peer is full, the error is std::errc::resource_unavailable_try_again. Other
/// errors: as fj::descriptor says.
inline void connect(const descriptor& socket, const ::sockaddr* address, std::size_t length,
                    wait_options options = {}) {
  detail::expect_done(detail::connect_to(detail::descriptor_access::of(socket), address, length,
                                         detail::limits_of(options, "fj::connect")),
                      "fj::connect");
}
inline void connect(const descriptor& socket, const ::sockaddr* address, std::size_t length, std::error_code& error,
                    wait_options options = {}) {
  detail::tell(detail::connect_to(detail::descriptor_access::of(socket), address, length,
                                  detail::limits_of(options, "fj::connect")),
               error);
}

/// Waits until a read (or write) would not block: there is data (or room), the end, or an error. For system calls that
/// this library does not wrap. Errors: as fj::descriptor says.
inline void readable(const descriptor& d, wait_options options = {}) {
  detail::expect_done(detail::wait_until_ready(detail::descriptor_access::of(d), detail::io_way::reading,
                                               detail::limits_of(options, "fj::readable")),
                      "fj::readable");
}
inline void readable(const descriptor& d, std::error_code& error, wait_options options = {}) {
  detail::tell(detail::wait_until_ready(detail::descriptor_access::of(d), detail::io_way::reading,
                                        detail::limits_of(options, "fj::readable")),
               error);
}
inline void writable(const descriptor& d, wait_options options = {}) {
  detail::expect_done(detail::wait_until_ready(detail::descriptor_access::of(d), detail::io_way::writing,
                                               detail::limits_of(options, "fj::writable")),
                      "fj::writable");
}
inline void writable(const descriptor& d, std::error_code& error, wait_options options = {}) {
  detail::tell(detail::wait_until_ready(detail::descriptor_access::of(d), detail::io_way::writing,
                                        detail::limits_of(options, "fj::writable")),
               error);
}

/// The same for the number of a descriptor of any kind and mode. It must stay open during the wait: to close it does
/// not end the wait. Each wait registers the number again. Errors: as fj::descriptor says;
/// std::errc::bad_file_descriptor if the number is none of an open descriptor.
inline void readable(int number, wait_options options = {}) {
  detail::expect_done(
      detail::wait_until_ready(number, detail::io_way::reading, detail::limits_of(options, "fj::readable")),
      "fj::readable");
}
inline void readable(int number, std::error_code& error, wait_options options = {}) {
  detail::tell(detail::wait_until_ready(number, detail::io_way::reading, detail::limits_of(options, "fj::readable")),
               error);
}
inline void writable(int number, wait_options options = {}) {
  detail::expect_done(
      detail::wait_until_ready(number, detail::io_way::writing, detail::limits_of(options, "fj::writable")),
      "fj::writable");
}
inline void writable(int number, std::error_code& error, wait_options options = {}) {
  detail::tell(detail::wait_until_ready(number, detail::io_way::writing, detail::limits_of(options, "fj::writable")),
               error);
}

}}  // namespace fj::v0_4
