// Channels: values that one fiber sends and another receives.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/detail/channel_state.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// Thrown by a send on a channel that is closed, or becomes closed while the send waits.
class channel_closed : public std::exception {
 public:
  const char* what() const noexcept override { return "forkjoin: send on a closed fj::channel"; }
};

namespace detail {

/// How select reaches the state of a channel.
struct channel_access {
  template <class Channel>
  static auto* state(const Channel& c) noexcept {
    return c.state_.get();
  }
  /// The channel that a handle of one direction is an end of.
  template <class End>
  static const auto& whole(const End& e) noexcept {
    return e.of_;
  }
};

/// A wait on no channel at all: it ends by a limit.
[[noreturn]] inline void wait_in_vain(const wait_options& options) {
  for (;;) {
    waiter here(limits_of(options, "a channel that is none"));
    throw_if_limited(waiter::end_by(here.wait()));
  }
}

}  // namespace detail

/// A handle to a channel like Go's; all copies of the handle name the same channel. Any number of fibers, and of
/// threads outside any runtime, may send and receive. While a fiber waits, also inside a tree of forks, its worker does
/// other work, and other workers may take what the fiber has forked. Values arrive in the order in which they were
/// sent. Senders and receivers that wait are served first in, first out.
///
/// A default-constructed handle names no channel, as Go's nil: sends and receives on it wait forever (or until a
/// deadline or a stop), and fj::select ignores it. So does a handle that was moved from.
///
/// T must be movable without exceptions. Its move constructor and its destructor run under the channel's lock, so they
/// must not fork, wait, or use the channel. Cost: a lock and a move; no allocation.
template <class T>
class channel {
  static_assert(std::is_object_v<T> && std::is_nothrow_move_constructible_v<T>,
                "fj::channel: a value must be movable without exceptions; send a std::unique_ptr to it");

 public:
  using value_type = T;

  channel() noexcept = default;
  /// A new channel with room for `capacity` values. With 0 a send waits until a receiver has its value. The room is
  /// allocated and initialized here. Throws std::bad_alloc.
  explicit channel(std::size_t capacity) : state_(std::make_shared<detail::channel_state<T>>(capacity)) {}

  /// Waits until a receiver has the value or the channel has room for it. Throws channel_closed; fj::cancelled if
  /// options.stop is asked to stop during the wait; fj::timed_out if the time options.until comes; std::bad_alloc if
  /// there is no memory for the wait. In these cases the value is destroyed.
  void send(T value, wait_options options = {}) const {
    if (!state_) detail::wait_in_vain(options);
    detail::maybe_yield();
    const auto end = state_->send(value, detail::limits_of(options, "fj::channel::send"));
    if (end == detail::wait_end::refused) throw channel_closed();
    detail::throw_if_limited(end);
  }

  /// Waits for a value. Returns an empty optional if the channel is closed and holds no value. Throws fj::cancelled,
  /// fj::timed_out and std::bad_alloc as send does.
  std::optional<T> receive(wait_options options = {}) const {
    if (!state_) detail::wait_in_vain(options);
    detail::maybe_yield();
    std::optional<T> value;
    detail::throw_if_limited(state_->receive(value, detail::limits_of(options, "fj::channel::receive")));
    return value;
  }

  // Compilers show these lines.
  template <class R, class P>
  void send(const T&, std::chrono::duration<R, P>) const = delete;  // {.until = std::chrono::steady_clock::now() + 1s}
  template <class R, class P>
  void receive(std::chrono::duration<R, P>) const = delete;  // {.until = std::chrono::steady_clock::now() + 1s}

  /// Moves the value into the channel if that needs no wait, and returns true. Otherwise returns false and leaves the
  /// value unchanged. Throws channel_closed. On a handle that names no channel: false.
  [[nodiscard]] bool try_send(T& value) const {
    if (state_) {
      const auto sent = state_->try_send(value);
      if (sent.closed) throw channel_closed();
      if (sent.done) return true;
    }
    detail::maybe_yield();
    return false;
  }
  [[nodiscard]] bool try_send(T&& value) const { return try_send(value); }

  /// Returns a value if the channel holds one or a sender waits with one; otherwise an empty optional.
  std::optional<T> try_receive() const {
    std::optional<T> value;
    static_cast<void>(try_receive(value));
    return value;
  }
  /// The same, but distinguishes a closed channel from an empty one: true if receive would not wait. Then `into` has
  /// the value, or is empty if the channel is closed and holds none. On a handle that names no channel: false. If it is
  /// false, `into` is empty.
  [[nodiscard]] bool try_receive(std::optional<T>& into) const {
    into.reset();
    if (state_ && state_->try_receive(into).done) return true;
    detail::maybe_yield();
    return false;
  }

  /// Closes the channel: later sends throw channel_closed, and so do sends that wait. Receivers get the values that the
  /// channel holds, and then empty results. Throws std::logic_error if the channel is closed already, or if the handle
  /// names no channel.
  void close() const {
    if (!state_) throw std::logic_error("fj::channel::close: the handle is no channel; make one with a capacity");
    if (!state_->close())
      throw std::logic_error("fj::channel::close: the channel is closed already; close it in one place");
  }

  /// How many values the channel holds, without those of senders that wait; and how many it has room for. 0 and 0 if
  /// the handle names no channel.
  std::size_t size() const {
    const std::size_t now = state_ ? state_->count() : 0;
    detail::maybe_yield();
    return now;
  }
  std::size_t capacity() const noexcept { return state_ ? state_->capacity() : 0; }

  /// Whether the handle names a channel.
  explicit operator bool() const noexcept { return !!state_; }
  friend bool operator==(const channel& a, const channel& b) noexcept = default;

  /// For `for (T value : c)`: receives until the channel is closed and holds no value.
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    iterator(const channel& of, std::source_location at) : of_(of), at_(at), value_(of_.receive({.at = at})) {}
    T& operator*() const noexcept { return *value_; }
    iterator& operator++() {
      value_.reset();
      if (auto next = of_.receive({.at = at_})) value_.emplace(std::move(*next));  // a T need not be assignable
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !value_; }

   private:
    channel of_;
    std::source_location at_;
    mutable std::optional<T> value_;
  };

  iterator begin(std::source_location at = std::source_location::current()) const { return iterator(*this, at); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend struct detail::channel_access;

  std::shared_ptr<detail::channel_state<T>> state_;
};

}}  // namespace fj::v0_4
