// Boost.Asio's asynchronous operations as calls that block the fiber, never its worker. For programs that have
// Boost.Asio.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#if !__has_include(<boost/asio/async_result.hpp>)
#error "<forkjoin/asio.hpp> needs Boost.Asio 1.70 or later; Debian has it in libboost-dev"
#else

#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/waiter.hpp"

namespace fj { inline namespace v0_4 {

/// The type of use_fiber.
struct use_fiber_t {
  boost::system::error_code* error = nullptr;

  /// The call fills `code` and does not throw system_error, as in use_fiber[code].
  constexpr use_fiber_t operator[](boost::system::error_code& code) const noexcept { return {&code}; }
};

/// A completion token of Boost.Asio: an operation that gets use_fiber instead of a handler returns when the operation
/// has ended, for example `const std::size_t n = socket.async_read_some(buffer, fj::use_fiber)`. Meanwhile the fiber
/// waits, also inside a tree of forks, and its worker does other work. A thread outside any runtime sleeps.
///
/// A thread that does nothing else has to run the io_context: `std::jthread io([&] { context.run(); })`. That thread
/// only makes fibers ready. A fiber must not run the context, because its worker could then run no other fiber. While
/// an operation is awaited, the library does not print that only an unknown thread could wake a fiber: a server may
/// idle.
///
/// Result: the arguments of a handler without the error: nothing, a value or a tuple. Errors:
/// boost::system::system_error, or with use_fiber[code] the value of code; the exception of an operation that reports
/// by std::exception_ptr; operation_aborted if Asio destroys the operation before its end; std::bad_alloc if there is
/// no memory for the wait. To limit the time, cancel the operation by a timer or close its socket, as with any handler.
/// Cost: that of the operation with a handler, and of a wait of a fiber. No allocation of its own.
///
/// Include <utility> before <boost/asio.hpp>, as this header does: Boost 1.74, which Debian 12 has, forgets it.
inline constexpr use_fiber_t use_fiber{};

namespace detail {

/// What an operation gives, in the frame of the call that waits for it.
template <class... Results>
class asio_operation {
 public:
  /// Errors: as the constructor of a waiter.
  asio_operation() : waiting_({.place = {.what = "an operation of Boost.Asio", .ended_by_others = true}}) {}

  /// By the handler, from any thread. This object may be gone when it returns.
  template <class... Given>
  void end(Given&&... given) noexcept {
    try {
      if constexpr (sizeof...(Given) == sizeof...(Results)) {
        given_.emplace(std::forward<Given>(given)...);
      }
    } catch (...) {
      thrown_ = std::current_exception();
    }
    if (waiting_.claim(0)) waiting_.wake();
  }
  /// By a handler that is destroyed and was never called.
  void drop() noexcept {
    dropped_ = true;
    if (waiting_.claim(0)) waiting_.wake();
  }

  std::tuple<Results...> wait(boost::system::error_code* error) {
    waiting_.set_aside_again();  // the code that begins the operation may have waited
    waiting_.wait();
    if (thrown_) std::rethrow_exception(std::move(thrown_));
    if (!dropped_) return std::move(*given_);
    if constexpr (is_error<Results...> && (std::is_default_constructible_v<Results> && ...)) {
      if (error) {
        std::tuple<Results...> none;
        std::get<0>(none) = boost::asio::error::operation_aborted;
        return none;
      }
    }
    throw boost::system::system_error(boost::asio::error::operation_aborted, "forkjoin: the operation was dropped");
  }

 private:
  template <class First = void, class...>
  static constexpr bool is_error = std::is_same_v<First, boost::system::error_code>;

  waiter waiting_;
  std::optional<std::tuple<Results...>> given_;
  std::exception_ptr thrown_;
  bool dropped_ = false;
};

/// The handler.
template <class... Results>
class asio_handler {
 public:
  explicit asio_handler(asio_operation<Results...>& of) noexcept : of_(&of) {}
  asio_handler(asio_handler&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  asio_handler& operator=(asio_handler&&) = delete;
  ~asio_handler() {
    if (of_) of_->drop();
  }

  template <class... Given>
  void operator()(Given&&... given) noexcept {
    std::exchange(of_, nullptr)->end(std::forward<Given>(given)...);
  }

 private:
  asio_operation<Results...>* of_;
};

/// The type of what a call returns: nothing, a value or a tuple. Asio asks for it also for overloads that it does not
/// choose, with values that cannot be moved, so no function's body may be needed to know it.
template <class... Values>
struct asio_values {
  using type = std::tuple<Values...>;
};
template <class Value>
struct asio_values<Value> {
  using type = Value;
};
template <>
struct asio_values<> {
  using type = void;
};

/// What a call returns, of what a handler gets.
template <class... Results>
struct asio_result {
  using type = typename asio_values<Results...>::type;
  static type of(std::tuple<Results...>&& all, boost::system::error_code*) {
    if constexpr (sizeof...(Results) == 1) {
      return std::get<0>(std::move(all));
    } else if constexpr (sizeof...(Results) > 1) {
      return std::move(all);
    }
  }
};

template <class First, class... Rest>
std::tuple<Rest...> after_first(std::tuple<First, Rest...>&& all) {
  return std::apply([](First&&, Rest&&... rest) { return std::tuple<Rest...>(std::move(rest)...); }, std::move(all));
}

template <class... Rest>
struct asio_result<boost::system::error_code, Rest...> {
  using type = typename asio_result<Rest...>::type;
  static type of(std::tuple<boost::system::error_code, Rest...>&& all, boost::system::error_code* error) {
    const boost::system::error_code code = std::get<0>(all);
    if (error) {
      *error = code;
    } else if (code) {
      throw boost::system::system_error(code);
    }
    return asio_result<Rest...>::of(detail::after_first(std::move(all)), error);
  }
};

template <class... Rest>
struct asio_result<std::exception_ptr, Rest...> {
  using type = typename asio_result<Rest...>::type;
  static type of(std::tuple<std::exception_ptr, Rest...>&& all, boost::system::error_code* error) {
    if (std::get<0>(all)) std::rethrow_exception(std::get<0>(all));
    return asio_result<Rest...>::of(detail::after_first(std::move(all)), error);
  }
};

}  // namespace detail

}}  // namespace fj::v0_4

template <class R, class... Args>
class boost::asio::async_result<fj::use_fiber_t, R(Args...)> {
  using operation = fj::detail::asio_operation<std::decay_t<Args>...>;
  using result = fj::detail::asio_result<std::decay_t<Args>...>;

 public:
  using return_type = typename result::type;

  template <class Initiation, class... InitArgs>
  static return_type initiate(Initiation&& initiation, fj::use_fiber_t token, InitArgs&&... args) {
    fj::detail::maybe_yield();
    operation begun;
    std::forward<Initiation>(initiation)(fj::detail::asio_handler<std::decay_t<Args>...>(begun),
                                         std::forward<InitArgs>(args)...);
    return result::of(begun.wait(token.error), token.error);
  }
};

#endif
