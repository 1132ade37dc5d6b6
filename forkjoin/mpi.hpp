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

#include <atomic>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <ranges>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/detail/function_ref.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/go/condition_variable.hpp"
#include "forkjoin/go/mutex.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/scope.hpp"

namespace fj { inline namespace v0_4 {

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
/// mpi::error, std::logic_error without a session.
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
  constexpr bool is_floating = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, long double>;
  static_assert(is_floating || (std::is_integral_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, bool>),
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
/// of that runtime polls: at once while messages come, then at pauses that grow to 16 milliseconds. Without memory for
/// a wait the strand polls by itself. Needs a session.
///
/// Throws fj::cancelled if options.stop is asked to stop first, fj::timed_out if the time options.until comes first:
/// then `request` is as before, the operation goes on, and you may wait again, or call MPI_Cancel. Throws
/// fj::mpi::error if the operation has failed, std::logic_error if there is no session.
MPI_Status wait(MPI_Request& request, wait_options options = {});

/// Waits for all of them, and returns their statuses. Errors: as wait. Those that have completed are
/// MPI_REQUEST_NULL then, also if it throws. std::bad_alloc if there is no memory for the statuses.
std::vector<MPI_Status> wait_all(std::span<MPI_Request> requests, wait_options options = {});

/// The request that wait_any has waited for.
struct completed {
  std::size_t index;  ///< requests.size() if all were MPI_REQUEST_NULL
  MPI_Status status;
};
/// Waits for one of them, which is MPI_REQUEST_NULL then; the others are as before. Errors: as wait_all.
completed wait_any(std::span<MPI_Request> requests, wait_options options = {});

/// For the constructor of fj::mpi::session.
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
    const detail::mpi_buffer from = detail::mpi_bytes(mine);
    const std::span to(all);
    if (to.size_bytes() != static_cast<std::size_t>(from.count) * static_cast<std::size_t>(ranks_))
      throw std::invalid_argument("fj::mpi::session::all_gather: the room must be that for the data of all ranks");
    finish(of, options, [&](MPI_Comm c, MPI_Request* r) {
      return MPI_Iallgather(from.data, from.count, from.type, to.data(), from.count, from.type, c, r);
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

/// What run of a steal_pool throws on the ranks where no handler has thrown, if one has on another rank.
class rank_failed : public std::runtime_error {
 public:
  rank_failed(const std::string& text, int rank) : std::runtime_error(text), rank_(rank) {}
  int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// For the constructor of fj::mpi::steal_pool.
struct steal_pool_options {
  /// So many roots that have not begun a rank keeps at most of those that it adds; then add calls the handler itself.
  std::size_t most_roots = 1'024;
  /// So many roots are begun at once on a rank; handlers that wait for something count. 0: twice as many as there are
  /// Ps.
  std::size_t most_begun = 0;
  /// The bytes of the longest message of roots, the same on all ranks. Each packed root has to fit, and 8 bytes more.
  std::size_t message_size = std::size_t{1} << 16;
};

/// What a rank has done in the last run of a steal_pool.
struct steal_pool_stats {
  long begun = 0;      ///< roots that have begun on this rank, without those that add has called itself
  long given = 0;      ///< roots that went to other ranks
  long received = 0;   ///< messages of roots from other ranks
  long waits = 0;      ///< how often the rank had no root
  long asked = 0;      ///< ranks that it has asked for roots, chosen at random
  long lifelines = 0;  ///< ranks that it has asked to send roots when they have some
};

}  // namespace mpi

namespace detail {

/// What a steal pool does whatever its roots are: which rank asks which, what is handed on, and when all is over.
class steal_pool_core {
 public:
  steal_pool_core(const steal_pool_core&) = delete;
  steal_pool_core& operator=(const steal_pool_core&) = delete;

 protected:
  steal_pool_core(const mpi::session& of, const mpi::steal_pool_options& wanted);
  ~steal_pool_core() = default;

  // The queue of roots, under lock_.
  virtual std::size_t size() const noexcept = 0;
  /// Moves the oldest root to the end of the message; false: it does not fit. Throws what the user's function throws.
  virtual bool pack_oldest(std::vector<std::byte>& message) = 0;
  virtual void unpack_all(std::span<const std::byte> message) = 0;
  virtual void clear() noexcept = 0;

  /// Begins the roots by `begin_roots`, and hands roots on until there are none on any rank. Then collects what the
  /// ranks found; or throws, on all ranks, if a handler has thrown on one.
  void run_until_end(function_ref<void()> begin_roots, std::span<const std::byte> mine, std::span<std::byte> all,
                     std::source_location at);
  /// Waits for a root, and counts it as begun; false: there will be none any more. Under lock_.
  bool wait_for_root(std::unique_lock<mutex>& held);
  void end_root();
  void fail(std::exception_ptr error);
  /// The queue has changed, or what the rank waits for. Under lock_.
  void changed();
  bool is_full() const noexcept { return runs_ && size() >= options_.most_roots; }

  const mpi::session& mpi_;
  const mpi::steal_pool_options options_;
  mutable mutex lock_;
  std::atomic<bool> failed_{false};
  mpi::steal_pool_stats stats_;

 private:
  enum tag : int;
  struct message_under_way {
    std::vector<std::byte> data;
    MPI_Request request;
  };

  void serve(const stop_token& until);
  void take_message(int from, int kind, std::span<const std::byte> message);
  void wait_for_end();
  bool begins_next() const noexcept;
  bool is_quiet() const noexcept;
  void ask_others();
  std::vector<std::byte> pack_half();
  void send(int to, tag kind, std::vector<std::byte> data = {});
  void fail_here(std::exception_ptr error);
  void fail_by(int rank, std::string text);

  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::source_location at_;
  std::minstd_rand random_;
  condition_variable root_or_end_, quiet_;
  std::list<message_under_way> under_way_;
  bool runs_ = false, over_ = false;
  bool is_waiting_ = false;  // for a root, or for the end of a handler
  std::size_t most_begun_ = 0;
  std::size_t running_ = 0;               // roots that have begun and not ended
  int tries_ = 0;                         // ranks to ask at random before the lifelines
  bool asked_ = false;                    // one that has not answered
  int armed_ = 0;                         // of lifelines that owe this rank roots: the sum of how much further they are
  std::vector<int> owed_;                 // ranks to which this one owes roots
  std::int64_t sent_ = 0, received_ = 0;  // messages
  std::exception_ptr error_;
  int failed_rank_ = -1;
  std::string failure_;
};

}  // namespace detail

namespace mpi {

/// Work of which no one knows the shape before, such as a search in a tree, on all ranks of a session. A *root* is a
/// value of T that stands for a part of the work. A handler does that part: it may fork, and it may add roots in place
/// of doing all of it. A rank without roots asks others, which hand on the oldest half of those that have not begun.
///
///     fj::mpi::steal_pool<node> pool(mpi);
///     if (mpi.rank() == 0) pool.add(top);
///     const auto visit = [&](const node& n) { ...; pool.add(child); ...; return 1L; };
///     const long nodes = pool.run(0L, visit, std::plus<>());  // on all ranks
///
/// A root should take a millisecond or more, as a message does: for smaller parts the handler forks. A P that has
/// nothing else to do begins the newest root, so that a rank keeps few; the handler of a root that is added when there
/// are options.most_roots runs at once. From other ranks a rank receives roots when it has none, at most half of
/// most_roots from each that it has asked, which are 1 + log2(ranks).
///
/// While handlers compute, messages are answered at their forks and adds, and when they end.
template <class T>
class steal_pool : detail::steal_pool_core {
 public:
  /// Roots that travel as bytes. Not collective. The session must outlive the pool.
  explicit steal_pool(const session& of, steal_pool_options options = {})
    requires std::is_trivially_copyable_v<T> && std::default_initializable<T> && (!std::is_pointer_v<T>)
      : steal_pool(
            of,
            [](const T& root) {
              const auto bytes = std::as_bytes(std::span(&root, 1));
              return std::vector<std::byte>(bytes.begin(), bytes.end());
            },
            [](std::span<const std::byte> bytes) {
              T root;
              std::memcpy(&root, bytes.data(), sizeof(T));
              return root;
            },
            options) {}
  /// Other roots travel as what `pack` makes of them, and `unpack` makes roots of that. Neither may use the pool.
  steal_pool(const session& of, std::function<std::vector<std::byte>(const T&)> pack,
             std::function<T(std::span<const std::byte>)> unpack, steal_pool_options options = {})
      : steal_pool_core(of, options), pack_(std::move(pack)), unpack_(std::move(unpack)) {}

  /// Adds a root: before run, on any rank, or in a handler and what that forks. In a handler it calls the handler if
  /// there are options.most_roots. Throws std::bad_alloc.
  void add(T root) {
    {
      const std::lock_guard held(lock_);
      if (!is_full()) {
        queue_.push_back(std::move(root));
        return changed();
      }
    }
    handle_(root);
  }

  /// Calls handler(root) for each root, until there are none on any rank. Returns on all ranks what combine(a, b)
  /// makes of the results of all handlers; it is associative and commutative, and `identity` its neutral element, of a
  /// trivially copyable type. All ranks call run, as a collective operation of the session. Handlers run in the
  /// caller's runtime; outside of any, in the default one.
  ///
  /// If a handler, `combine`, or a function that packs throws, all ranks drop the roots that have not begun. When the
  /// handlers that run have ended, run throws that exception here, and fj::mpi::rank_failed on ranks where none was
  /// thrown. Then the pool is empty, and may be used again. Catch it within the session's life: the destructor of a
  /// session that an exception ends aborts the job. An error of MPI in run ends the job.
  template <class R, class F, class Op>
  R run(R identity, F handler, Op combine, std::source_location at = std::source_location::current()) {
    static_assert(std::is_trivially_copyable_v<R>, "fj::mpi::steal_pool::run: results travel as bytes");
    return fj::run([&] {
      result<R> mine{identity};
      mutex combining;
      handle_ = [&](T& root) {
        try {
          const R found = std::invoke(handler, std::move(root));
          const std::lock_guard alone(combining);
          mine.value = combine(mine.value, found);
        } catch (...) {
          fail(detail::caught_exception());
        }
      };
      std::vector<result<R>> all(static_cast<std::size_t>(mpi_.ranks()), mine);
      run_until_end([this] { begin_roots(); }, std::as_bytes(std::span(&mine, 1)),
                    std::as_writable_bytes(std::span(all)), at);
      for (const result<R>& each : all) identity = combine(identity, each.value);
      return identity;
    });
  }

  /// Whether a handler has thrown, on any rank, as far as this one knows: a long handler may look, and return early.
  bool stopped() const noexcept { return failed_.load(std::memory_order_relaxed); }
  /// Of the last run, on this rank.
  steal_pool_stats stats() const {
    const std::lock_guard held(lock_);
    return stats_;
  }

 private:
  template <class R>
  struct result {  // std::vector<bool> has no bytes to send
    R value;
  };

  // The scope's forks: a P that has nothing to do begins the next root.
  void begin_roots() {
    scope begun;
    while (std::optional<T> root = next_root()) {
      begun.fork([this, root = std::move(*root)]() mutable {
        handle_(root);
        end_root();
      });
    }
    begun.join();
  }
  // The newest: so the tree is walked in depth, and few roots are kept.
  std::optional<T> next_root() {
    std::unique_lock held(lock_);
    if (!wait_for_root(held)) return std::nullopt;
    std::optional<T> root(std::move(queue_.back()));
    queue_.pop_back();
    return root;
  }

  std::size_t size() const noexcept override { return queue_.size(); }
  bool pack_oldest(std::vector<std::byte>& message) override {
    const std::vector<std::byte> packed = pack_(queue_.front());
    const std::uint64_t length = packed.size();
    if (message.size() + sizeof length + packed.size() > options_.message_size) {
      if (!message.empty()) return false;
      throw std::length_error("fj::mpi::steal_pool: a root is packed into " + std::to_string(length) +
                              " bytes, and messages have steal_pool_options::message_size, " +
                              std::to_string(options_.message_size));
    }
    const auto head = std::as_bytes(std::span(&length, 1));
    message.insert(message.end(), head.begin(), head.end());
    message.insert(message.end(), packed.begin(), packed.end());
    queue_.pop_front();
    return true;
  }
  void unpack_all(std::span<const std::byte> message) override {
    for (std::uint64_t length = 0; !message.empty(); message = message.subspan(sizeof length + length)) {
      std::memcpy(&length, message.data(), sizeof length);
      queue_.push_back(unpack_(message.subspan(sizeof length, length)));
    }
  }
  void clear() noexcept override { queue_.clear(); }

  std::function<std::vector<std::byte>(const T&)> pack_;
  std::function<T(std::span<const std::byte>)> unpack_;
  std::function<void(T&)> handle_;  // while it runs
  std::deque<T> queue_;
};

}  // namespace mpi

}}  // namespace fj::v0_4

#endif
