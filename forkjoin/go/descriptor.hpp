// Descriptors of the system: reading, writing, accepting and connecting, where a fiber waits and its worker does not.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include <cstddef>
#include <system_error>
#include <utility>

#include "forkjoin/detail/entry.hpp"
#include "forkjoin/go/wait_options.hpp"

struct sockaddr;

namespace fj::inline v0_1 {

namespace detail {
struct descriptor_access;
}

/// Owns a descriptor of the system: a socket, a pipe, a terminal, an eventfd. Move-only. Any number of fibers, and of threads
/// outside of any runtime, may use it at once; several may read at once, or write at once: each time that something comes, all that wait
/// try again, and those that find nothing wait on.
///
/// A fiber waits without its worker, in the middle of a fork tree, too; the runtime's first such wait opens two descriptors, an epoll
/// and an eventfd, until the runtime ends. A thread outside of any runtime waits by poll(2), and opens an eventfd for that time.
///
/// A regular file never waits for an event: reads and writes of it block their thread.
class descriptor {
 public:
  /// Owns none.
  descriptor() noexcept = default;
  /// Owns that one, and makes it one that does not block (O_NONBLOCK), also for other processes that share it. Throws
  /// std::system_error if it is none, and std::bad_alloc; then it stays the caller's.
  explicit descriptor(int number) : watched_(&detail::open_descriptor(number)) {}
  descriptor(descriptor&& other) noexcept : watched_(std::exchange(other.watched_, nullptr)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor(std::move(other)).swap(*this);
    return *this;
  }
  /// Closes it. No operation may begin meanwhile, as on any object that is destroyed.
  ~descriptor() {
    if (watched_) watched_->drop();
  }
  void swap(descriptor& other) noexcept { std::swap(watched_, other.watched_); }

  /// What waits for it ends with std::errc::bad_file_descriptor, and so does every operation from now on. Its number is free when
  /// the last operation under way has ended, so none meets another descriptor of the same number. May be called at any time, and
  /// again.
  void close() noexcept {
    if (watched_) watched_->close();
  }

  /// The number, for other calls of the system; -1 if it owns none or is closed.
  int native_handle() const noexcept { return *this ? watched_->number() : -1; }
  explicit operator bool() const noexcept { return watched_ && !watched_->is_closed(); }

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
  expect_no_limit(end.limit);
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

// Each operation has two forms. One throws: std::system_error with what the system said, fj::timed_out if options.until came
// while it waited, fj::cancelled if options.stop was asked. The other sets `error`: to what the system said, to
// std::errc::timed_out, to std::errc::operation_canceled; or clears it. Both: std::errc::bad_file_descriptor if the descriptor is
// closed before or meanwhile, std::errc::too_many_files_open if a first wait needs a descriptor that cannot be had, and
// std::bad_alloc is thrown if there is no memory to wait. An operation that need not wait looks at neither limit.
// Cost without a wait: the system call, and four uncontended atomic operations.

/// Reads what is there, at most `size` bytes, and waits until something is. Returns how many; 0 at the end (the peer has closed), or
/// if size is 0.
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

/// Writes all `size` bytes, and waits for room as often as need be. Returns how many; with `error` set, how many went before.
/// Several writers at once may mix their parts. A socket's peer that is gone is std::errc::broken_pipe and no SIGPIPE; that of a pipe is
/// the program's matter.
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

/// Waits for a connection to a listening socket. Owns none if `error` is set; std::errc::too_many_files_open does not wait for a free
/// number.
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

/// Connects a socket, and waits until it is connected. After an error or a limit the socket is of no use: close it. A local socket whose
/// peer's queue is full is std::errc::resource_unavailable_try_again.
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

/// Waits until a read (or write) would find something: data (or room), the end, or an error. For calls of the system that this
/// library does not have.
inline void readable(const descriptor& d, wait_options options = {}) {
  detail::expect_done(detail::wait_until_ready(detail::descriptor_access::of(d), detail::io_way::reading,
                                               detail::limits_of(options, "fj::readable")),
                      "fj::readable");
}
inline void writable(const descriptor& d, wait_options options = {}) {
  detail::expect_done(detail::wait_until_ready(detail::descriptor_access::of(d), detail::io_way::writing,
                                               detail::limits_of(options, "fj::writable")),
                      "fj::writable");
}

/// The same for a number, of any kind and mode, that must stay open meanwhile: to close it does not end the wait. Each wait registers
/// the number anew.
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

}  // namespace fj::inline v0_1

#endif
