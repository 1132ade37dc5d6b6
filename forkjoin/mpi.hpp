// Waits for MPI that hold no thread, and a pool of roots that the ranks of a job hand one another: the library
// forkjoin-mpi, for programs that have Open MPI or MPICH. forkjoin/guide/mpi.md tells how to use it.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#if !__has_include(<mpi.h>)
#error "<forkjoin/mpi.hpp> needs an MPI; Debian has Open MPI in libopenmpi-dev, and MPICH in libmpich-dev"
#else

// The bindings for C++ that MPI-3 has removed: they would need a library of their own.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <climits>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <ranges>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/go/mutex.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_2 {

namespace mpi {

/// A call of MPI has failed. The message names the call, its place, and what MPI says. MPI returns errors of
/// communicators with MPI_ERRORS_RETURN alone, such as those of sessions; by default an error ends the job.
class error : public std::runtime_error {
 public:
  error(const std::string& text, int code) : std::runtime_error(text), code_(code) {}
  /// MPI's code; MPI_Error_class tells its class.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A time or a stop has ended the wait for an operation that MPI cannot take back: a send, or a collective operation.
/// The operation goes on, and uses its buffers. Keep them, and wait for `request` before they go.
class unfinished : public std::runtime_error {
 public:
  unfinished(const std::string& text, MPI_Request goes_on) : std::runtime_error(text), request(goes_on) {}
  MPI_Request request;
};

}  // namespace mpi

namespace detail {

/// What messages say of an operation.
struct mpi_operation {
  const char* call;          ///< a literal
  int peer = MPI_UNDEFINED;  ///< a rank or MPI_ANY_SOURCE; MPI_UNDEFINED: the call has none
  int tag = MPI_ANY_TAG;     ///< if there is a peer
  std::source_location at = {};
};

/// Held during each call of MPI, of all sessions, and by the strand that polls.
mutex& mpi_lock() noexcept;

/// Throws an mpi::error if the code is one.
void mpi_check(int code, const mpi_operation& of);

/// What ended a wait for several requests.
struct mpi_end {
  wait_end by;
  std::size_t last;  ///< the request that was the last to complete; requests.size(): none was active
};

/// Waits until all of the requests that are active have completed, or any one of them, and then no other. Sets those
/// that have to MPI_REQUEST_NULL, and their statuses. If a limit ends the wait, the others are as before. Throws
/// mpi::error, std::bad_alloc.
mpi_end mpi_wait(std::span<MPI_Request> requests, MPI_Status* statuses, bool is_any, const mpi_operation& of,
                 const wait_options& options);

/// Waits for an operation that cannot be taken back: throws mpi::unfinished if a limit ends the wait.
MPI_Status mpi_finish(MPI_Request request, const mpi_operation& of, const wait_options& options);
/// Waits for a receive. If a limit ends the wait, cancels the receive and throws; unless a message has come meanwhile.
MPI_Status mpi_finish_receive(MPI_Request request, const mpi_operation& of, const wait_options& options);

template <class V>
concept mpi_range =
    std::ranges::contiguous_range<V> && std::ranges::sized_range<V> &&
    std::is_trivially_copyable_v<std::remove_cv_t<std::remove_reference_t<std::ranges::range_reference_t<V>>>>;
template <class V>
concept mpi_value = std::is_trivially_copyable_v<std::remove_cvref_t<V>> && !std::ranges::range<V> &&
                    !std::is_pointer_v<std::remove_cvref_t<V>>;
/// One trivially copyable value, or several that lie one behind the other.
template <class V>
concept mpi_data = mpi_range<V> || mpi_value<V>;

/// Data that do not end with the call: no temporary, but a std::span, for example, may be one.
template <class V>
concept mpi_lasting = mpi_data<V> && (std::is_lvalue_reference_v<V> || std::ranges::borrowed_range<V>);

/// A buffer, as MPI's calls take it.
struct mpi_buffer {
  void* data;
  int count;
  MPI_Datatype type;
};

inline int mpi_count(std::size_t n) {
  if (n > static_cast<std::size_t>(INT_MAX))
    throw std::length_error("fj::mpi: MPI counts in int, and this is more; divide it into several messages");
  return static_cast<int>(n);
}

template <mpi_data V>
mpi_buffer mpi_bytes(V& v) {
  if constexpr (mpi_range<V>) {
    using element = std::remove_reference_t<std::ranges::range_reference_t<V>>;
    return {const_cast<std::remove_const_t<element>*>(std::ranges::data(v)),
            detail::mpi_count(std::ranges::size(v) * sizeof(element)), MPI_BYTE};
  } else {
    return {const_cast<std::remove_const_t<V>*>(std::addressof(v)), detail::mpi_count(sizeof(V)), MPI_BYTE};
  }
}

template <class T>
MPI_Datatype mpi_type() noexcept {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                "fj::mpi: reductions take numbers; for other types use fj::mpi::session::start with a type of MPI's");
  if constexpr (std::is_same_v<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return MPI_DOUBLE;
  else if constexpr (std::is_same_v<T, long double>)
    return MPI_LONG_DOUBLE;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? MPI_INT8_T : MPI_UINT8_T;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? MPI_INT16_T : MPI_UINT16_T;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? MPI_INT32_T : MPI_UINT32_T;
  else
    return std::is_signed_v<T> ? MPI_INT64_T : MPI_UINT64_T;
}

template <mpi_data V>
mpi_buffer mpi_numbers(V& v) {
  if constexpr (mpi_range<V>) {
    using element = std::remove_reference_t<std::ranges::range_reference_t<V>>;
    return {std::ranges::data(v), detail::mpi_count(std::ranges::size(v)), detail::mpi_type<element>()};
  } else {
    return {std::addressof(v), 1, detail::mpi_type<V>()};
  }
}

}  // namespace detail

namespace mpi {

/// Waits for the request, as MPI_Wait, and returns its status. A strand leaves its worker meanwhile; a thread outside
/// any runtime polls. A request that has completed already does not suspend. While strands of a runtime wait, one fiber
/// of that runtime polls: at once while messages come, then at pauses that grow to a millisecond. Needs a session.
///
/// Throws fj::cancelled if options.stop is asked to stop first, fj::timed_out if the time options.until comes first:
/// then `request` is as before, the operation goes on, and you may wait again, or call MPI_Cancel. Throws
/// fj::mpi::error if the operation has failed, std::bad_alloc if there is no memory for the wait, std::logic_error if
/// there is no session.
MPI_Status wait(MPI_Request& request, wait_options options = {});

/// Waits for all of them, and returns their statuses. Errors: as wait. Those that have completed are
/// MPI_REQUEST_NULL then, also if it throws.
std::vector<MPI_Status> wait_all(std::span<MPI_Request> requests, wait_options options = {});

/// The request that wait_any has waited for.
struct completed {
  std::size_t index;  ///< requests.size() if all were MPI_REQUEST_NULL
  MPI_Status status;
};
/// Waits for one of them, which is MPI_REQUEST_NULL then; the others are as before. Errors: as wait.
completed wait_any(std::span<MPI_Request> requests, wait_options options = {});

struct session_options {
  /// The session takes a copy of this communicator: its messages meet no others.
  MPI_Comm communicator = MPI_COMM_WORLD;
  /// The least level of threads. MPI_THREAD_SERIALIZED is enough if all calls of MPI go by the session.
  int threads = MPI_THREAD_SERIALIZED;
};

/// The use of MPI by strands. Made by all ranks of the communicator, and destroyed by all. Initializes MPI if the
/// program has not, and then also finalizes it: so make the first one in main, outside of fj::run. Calls of MPI that go
/// by a session come one at a time. A program that calls MPI itself meanwhile asks for MPI_THREAD_MULTIPLE.
///
/// Data are trivially copyable values, or contiguous ranges of them (std::vector, std::span, arrays); they travel as
/// bytes, between ranks with the same representation.
class session {
 public:
  /// Throws std::logic_error if MPI offers a lower level of threads than options.threads, or one below
  /// MPI_THREAD_SERIALIZED: a strand may change its thread. Throws fj::mpi::error.
  explicit session(session_options options = {}, std::source_location at = std::source_location::current());
  /// Waits for the other ranks, and prints a line for each message of this session that has come and that no one has
  /// received. If an exception destroys the session, ends the job by MPI_Abort: the other ranks would wait for ever.
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }
  /// With MPI_ERRORS_RETURN.
  MPI_Comm communicator() const noexcept { return communicator_; }

  /// Calls f(communicator), while no other strand calls MPI by a session. f must not wait.
  template <class F>
  decltype(auto) call(F&& f) const {
    const std::lock_guard alone(detail::mpi_lock());
    return std::invoke(std::forward<F>(f), communicator_);
  }

  /// Starts an operation: f(communicator, request) calls one of MPI's functions that begin with I, and returns its
  /// code. `name`: a literal, for messages. Throws fj::mpi::error.
  template <class F>
  MPI_Request start(const char* name, F&& f, std::source_location at = std::source_location::current()) const {
    return start_operation({.call = name, .at = at}, f);
  }
  /// The data must stay until the request has been waited for; a temporary does not compile.
  template <detail::mpi_lasting V>
  MPI_Request start_send(V&& data, int to, int tag = 0,
                         std::source_location at = std::source_location::current()) const {
    return start_send_as({"fj::mpi::session::start_send", to, tag, at}, detail::mpi_bytes(data));
  }
  template <detail::mpi_lasting V>
  MPI_Request start_receive(V&& into, int from, int tag = 0,
                            std::source_location at = std::source_location::current()) const {
    return start_receive_as({"fj::mpi::session::start_receive", from, tag, at}, detail::mpi_bytes(into));
  }

  /// Returns when the data may be changed. Throws fj::mpi::unfinished if a time or a stop ends the wait,
  /// fj::mpi::error.
  template <detail::mpi_data V>
  void send(const V& data, int to, int tag = 0, wait_options options = {}) const {
    const detail::mpi_operation of{"fj::mpi::session::send", to, tag, options.at};
    detail::mpi_finish(start_send_as(of, detail::mpi_bytes(data)), of, options);
  }

  /// Receives at most as much as there is room, from a rank or MPI_ANY_SOURCE, with a tag or MPI_ANY_TAG. The status
  /// says from whom, and how many bytes. If a time or a stop ends the wait, the receive is cancelled, and the buffer is
  /// free again; then throws fj::timed_out or fj::cancelled. Throws fj::mpi::error, for example if the message is too
  /// long.
  template <detail::mpi_data V>
  MPI_Status receive(V&& into, int from, int tag = 0, wait_options options = {}) const {
    const detail::mpi_operation of{"fj::mpi::session::receive", from, tag, options.at};
    return detail::mpi_finish_receive(start_receive_as(of, detail::mpi_bytes(into)), of, options);
  }
  /// One value, which it returns.
  template <detail::mpi_value T>
    requires std::is_default_constructible_v<T>
  T receive(int from, int tag = 0, wait_options options = {}) const {
    T value{};
    receive(value, from, tag, options);
    return value;
  }

  // Collective operations: all ranks of the session call the same ones in the same order, one strand of each. Errors:
  // fj::mpi::unfinished if a time or a stop ends the wait, fj::mpi::error.

  void barrier(wait_options options = {}) const {
    const detail::mpi_operation of{.call = "fj::mpi::session::barrier", .at = options.at};
    finish(of, options, [](MPI_Comm c, MPI_Request* r) { return MPI_Ibarrier(c, r); });
  }
  /// The data of rank `root` go to all.
  template <detail::mpi_data V>
  void broadcast(V&& data, int root = 0, wait_options options = {}) const {
    const detail::mpi_operation of{.call = "fj::mpi::session::broadcast", .at = options.at};
    const detail::mpi_buffer b = detail::mpi_bytes(data);
    finish(of, options, [&](MPI_Comm c, MPI_Request* r) { return MPI_Ibcast(b.data, b.count, b.type, root, c, r); });
  }
  /// In place: on all ranks the numbers become what the operation, such as MPI_SUM, makes of those of all ranks.
  template <detail::mpi_data V>
  void all_reduce(V&& numbers, MPI_Op operation, wait_options options = {}) const {
    const detail::mpi_operation of{.call = "fj::mpi::session::all_reduce", .at = options.at};
    const detail::mpi_buffer b = detail::mpi_numbers(numbers);
    finish(of, options, [&](MPI_Comm c, MPI_Request* r) {
      return MPI_Iallreduce(MPI_IN_PLACE, b.data, b.count, b.type, operation, c, r);
    });
  }
  /// The data of rank r become those of `all` from r * size of `mine` on; `all` has room for those of all ranks.
  template <detail::mpi_data V, detail::mpi_range All>
  void all_gather(const V& mine, All&& all, wait_options options = {}) const {
    const detail::mpi_operation of{.call = "fj::mpi::session::all_gather", .at = options.at};
    const detail::mpi_buffer from = detail::mpi_bytes(mine), to = detail::mpi_bytes(all);
    if (to.count != from.count * ranks_)
      throw std::invalid_argument("fj::mpi::session::all_gather: the room must be that for the data of all ranks");
    finish(of, options, [&](MPI_Comm c, MPI_Request* r) {
      return MPI_Iallgather(from.data, from.count, from.type, to.data, from.count, from.type, c, r);
    });
  }

 private:
  template <class F>
  MPI_Request start_operation(const detail::mpi_operation& of, F&& f) const {
    MPI_Request request = MPI_REQUEST_NULL;
    detail::mpi_check(call([&](MPI_Comm c) { return std::invoke(f, c, &request); }), of);
    return request;
  }
  template <class F>
  void finish(const detail::mpi_operation& of, const wait_options& options, F&& f) const {
    detail::mpi_finish(start_operation(of, f), of, options);
  }
  MPI_Request start_send_as(const detail::mpi_operation& of, const detail::mpi_buffer& b) const {
    return start_operation(
        of, [&](MPI_Comm c, MPI_Request* r) { return MPI_Isend(b.data, b.count, b.type, of.peer, of.tag, c, r); });
  }
  MPI_Request start_receive_as(const detail::mpi_operation& of, const detail::mpi_buffer& b) const {
    return start_operation(
        of, [&](MPI_Comm c, MPI_Request* r) { return MPI_Irecv(b.data, b.count, b.type, of.peer, of.tag, c, r); });
  }

  bool finalizes_ = false;
  int exceptions_ = std::uncaught_exceptions();
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 0;
};

}  // namespace mpi

}}  // namespace fj::v0_2

#endif
