// What <forkjoin/go.hpp> has in the serial build: a fiber runs when it is started, to its end. Locks are always free. What only
// makes sense between two that run at once does not compile.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/deadline.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_2 {

struct wait_options {
  std::chrono::steady_clock::time_point until = detail::no_deadline;
  const stop_token* stop = nullptr;
};

template <class T>
class [[nodiscard(
    "fj::go: a dropped future detaches its fiber; write auto f = fj::go(...), or static_cast<void>")]] future {
 public:
  future() noexcept = default;
  template <class F>
  explicit future(std::in_place_t, F& f) {
    try {
      if constexpr (std::is_void_v<T>) {
        f();
        value_.emplace();
      } else {
        value_.emplace(f());
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  future(future&& other) noexcept
      : value_(std::exchange(other.value_, std::nullopt)), error_(std::exchange(other.error_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    value_ = std::exchange(other.value_, std::nullopt);
    error_ = std::exchange(other.error_, nullptr);
    return *this;
  }
  ~future() {
    if (error_) [this]() noexcept { std::rethrow_exception(error_); }();  // as for a fiber that is left to itself
  }

  bool valid() const noexcept { return value_ || error_; }
  bool ready() const noexcept { return valid(); }
  bool request_stop() noexcept { return false; }

  void wait(wait_options = {}) {
    if (!valid())
      throw std::logic_error("fj::future: there is no fiber to wait for; get was called before, or go never");
  }

  template <class Time>
  bool wait_until(const Time&) {
    wait();
    return true;
  }
  template <class Duration>
  bool wait_for(const Duration&) {
    wait();
    return true;
  }

  T get(wait_options = {}) {
    wait();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    auto value = std::exchange(value_, std::nullopt);
    return static_cast<T>(*std::move(value));
  }

 private:
  using kept = std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>,
                                  detail::value_of<T>>;
  std::optional<kept> value_;
  std::exception_ptr error_;
};

struct go_options {
  std::size_t stack_size = 0;
};

/// Runs f at once, on the caller's stack.
template <class F>
auto go(const go_options&, F&& f) {
  std::decay_t<F> mine(std::forward<F>(f));
  if constexpr (std::is_invocable_v<std::decay_t<F>&, stop_token>) {
    auto call = [&]() -> decltype(auto) { return std::invoke(mine, stop_token()); };
    return future<decltype(call())>(std::in_place, call);
  } else {
    return future<std::invoke_result_t<std::decay_t<F>&>>(std::in_place, mine);
  }
}

template <class F, class First, class... More>
  requires(!std::is_same_v<std::remove_cvref_t<F>, go_options>)
void go(F&& f, First&&, More&&...) = delete;  // a closure takes arguments along: fj::go([=] { f(1, 2); })

template <class F>
auto go(F&& f) {
  return fj::go(go_options(), std::forward<F>(f));
}

template <class F>
auto runtime::go(const go_options& wanted, F&& f) {
  return fj::go(wanted, std::forward<F>(f));
}
template <class F>
auto runtime::go(F&& f) {
  return fj::go(std::forward<F>(f));
}

inline void yield() noexcept {}

template <class F>
std::invoke_result_t<F> blocking(F&& f) {
  return std::invoke(std::forward<F>(f));
}
template <class F>
std::invoke_result_t<F> blocking_now(F&& f) {
  return std::invoke(std::forward<F>(f));
}

namespace detail {

inline void sleep_until(deadline t, const wait_options& options) {
  const deadline end = (std::min)(t, options.until);
  if (options.stop) {  // another thread may ask it
    std::condition_variable_any never_notified;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    never_notified.wait_until(lock, *options.stop, end, [] { return false; });
    if (options.stop->stop_requested() && deadline_clock::now() < end) throw cancelled();
  } else {
    std::this_thread::sleep_until(end);
  }
  if (options.until < t) throw timed_out();
}

}  // namespace detail

template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& d, wait_options options = {}) {
  if (d > d.zero()) detail::sleep_until(detail::deadline_after(d), options);
}
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& t, wait_options options = {}) {
  for (detail::deadline end = detail::deadline_at(t); end > detail::deadline_clock::now(); end = detail::deadline_at(t))
    detail::sleep_until(end, options);
}

/// Nothing else runs, so it is free; unless the one function that runs locks it twice, which would wait for ever, or in vain.
class mutex {
 public:
  void lock(wait_options = {}) {
    if (!try_lock()) throw std::logic_error("fj::mutex: locked twice; in the serial build nothing could unlock it");
  }
  [[nodiscard]] bool try_lock() noexcept { return !std::exchange(locked_, true); }
  [[nodiscard]] bool try_lock_for(const auto&) noexcept { return try_lock(); }
  [[nodiscard]] bool try_lock_until(const auto&) noexcept { return try_lock(); }
  void unlock() noexcept { locked_ = false; }

 private:
  bool locked_ = false;
};

class shared_mutex {
 public:
  void lock(wait_options = {}) {
    if (!try_lock())
      throw std::logic_error("fj::shared_mutex: locked twice; in the serial build nothing could unlock it");
  }
  [[nodiscard]] bool try_lock() noexcept { return readers_ == 0 && !std::exchange(written_, true); }
  [[nodiscard]] bool try_lock_for(const auto&) noexcept { return try_lock(); }
  [[nodiscard]] bool try_lock_until(const auto&) noexcept { return try_lock(); }
  void unlock() noexcept { written_ = false; }
  void lock_shared(wait_options = {}) {
    if (!try_lock_shared())
      throw std::logic_error("fj::shared_mutex: locked twice; in the serial build nothing could unlock it");
  }
  [[nodiscard]] bool try_lock_shared() noexcept { return !written_ && ++readers_ > 0; }
  [[nodiscard]] bool try_lock_shared_for(const auto&) noexcept { return try_lock_shared(); }
  [[nodiscard]] bool try_lock_shared_until(const auto&) noexcept { return try_lock_shared(); }
  void unlock_shared() noexcept { --readers_; }

 private:
  bool written_ = false;
  std::uint64_t readers_ = 0;
};

class semaphore {
 public:
  explicit semaphore(std::uint64_t permits) noexcept : permits_(permits) {}
  void acquire(wait_options = {}) {
    if (!try_acquire())
      throw std::logic_error("fj::semaphore: no permit; in the serial build nothing could release one");
  }
  [[nodiscard]] bool try_acquire() noexcept { return permits_ > 0 && permits_-- > 0; }
  [[nodiscard]] bool try_acquire_for(const auto&) noexcept { return try_acquire(); }
  [[nodiscard]] bool try_acquire_until(const auto&) noexcept { return try_acquire(); }
  void release(std::uint64_t permits = 1) noexcept { permits_ += (std::min)(permits, ~permits_); }

 private:
  std::uint64_t permits_;
};

class wait_group {
 public:
  void add(std::int64_t change = 1) {
    std::int64_t changed = 0;
    if (__builtin_add_overflow(count_, change, &changed) || changed < 0) {
      throw std::logic_error(change < 0
                                 ? "fj::wait_group: the count would be negative; call add before done"
                                 : "fj::wait_group: the count would exceed 2^63 - 1; call done for what has ended");
    }
    count_ = changed;
  }
  void done() { add(-1); }
  void wait(wait_options = {}) {
    if (count_ != 0) throw std::logic_error("fj::wait_group: in the serial build nothing could bring the count to 0");
  }

 private:
  std::int64_t count_ = 0;
};

class once {
 public:
  template <class F>
  void call(F&& f, wait_options = {}) {
    if (done_) return;
    static_cast<void>(std::invoke(std::forward<F>(f)));
    done_ = true;
  }

 private:
  bool done_ = false;
};

template <class T>
class local {
 public:
  local()
    requires std::is_default_constructible_v<T>
      : make_([] { return T(); }) {}
  explicit local(std::function<T()> make) : make_(std::move(make)) {}
  local(const local&) = delete;
  local& operator=(const local&) = delete;

  T& operator*() { return get(); }
  T* operator->() { return &get(); }
  T& get() {
    if (!value_) value_.emplace(make_());
    return *value_;
  }

 private:
  const std::function<T()> make_;
  std::optional<T> value_;
};

namespace detail {
template <class>
inline constexpr bool in_serial_build = true;
}

template <class T>
class channel {
  static_assert(!detail::in_serial_build<T>,
                "fj::channel: in the serial build a fiber runs to its end at once, so no two could talk; build without "
                "FORKJOIN_SERIAL");
};

template <class T>
class receive_channel : channel<T> {};
template <class T>
class send_channel : channel<T> {};

template <class... Cases>
std::size_t select(Cases&&...) {
  static_assert(!detail::in_serial_build<std::tuple<Cases...>>,
                "fj::select: in the serial build a fiber runs to its end at once, so no two could talk; build without "
                "FORKJOIN_SERIAL");
  return 0;
}

// There is one strand, and it does what the program does.
inline void print_fibers() noexcept {}
inline bool print_fibers_on(int = SIGQUIT) noexcept { return true; }

}}  // namespace fj::v0_2
