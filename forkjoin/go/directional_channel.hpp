// Handles to one end of a channel. A function that takes such a handle says in which direction values go, and the
// compiler checks it.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <chrono>
#include <cstddef>
#include <iterator>
#include <optional>
#include <source_location>
#include <utility>

#include "forkjoin/go/channel.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// The receiving end of a channel, Go's <-chan T. Every fj::channel<T> converts to it; no conversion leads back. It has
/// no send and no close. Meaning, errors and cost of its functions are those of fj::channel. (The names are Kotlin's; a
/// "receiver" of std::execution is something else.)
template <class T>
class receive_channel {
 public:
  using value_type = T;
  using iterator = typename channel<T>::iterator;

  receive_channel() noexcept = default;
  receive_channel(channel<T> of) noexcept : of_(std::move(of)) {}

  std::optional<T> receive(wait_options options = {}) const { return of_.receive(options); }
  template <class R, class P>
  void receive(std::chrono::duration<R, P>) const = delete;  // {.until = std::chrono::steady_clock::now() + 1s}
  std::optional<T> try_receive() const { return of_.try_receive(); }
  [[nodiscard]] bool try_receive(std::optional<T>& into) const { return of_.try_receive(into); }

  iterator begin(std::source_location at = std::source_location::current()) const { return of_.begin(at); }
  std::default_sentinel_t end() const noexcept { return {}; }

  std::size_t size() const { return of_.size(); }
  std::size_t capacity() const noexcept { return of_.capacity(); }
  explicit operator bool() const noexcept { return static_cast<bool>(of_); }
  /// Whether both are ends of one channel.
  friend bool operator==(const receive_channel& a, const receive_channel& b) noexcept = default;

 private:
  friend struct detail::channel_access;

  channel<T> of_;
};

/// The sending end of a channel, Go's chan<- T. Every fj::channel<T> converts to it; no conversion leads back. The side
/// that sends also closes the channel. Meaning, errors and cost of its functions are those of fj::channel.
template <class T>
class send_channel {
 public:
  using value_type = T;

  send_channel() noexcept = default;
  send_channel(channel<T> of) noexcept : of_(std::move(of)) {}

  void send(T value, wait_options options = {}) const { of_.send(std::move(value), options); }
  template <class R, class P>
  void send(const T&, std::chrono::duration<R, P>) const = delete;  // {.until = std::chrono::steady_clock::now() + 1s}
  [[nodiscard]] bool try_send(T& value) const { return of_.try_send(value); }
  [[nodiscard]] bool try_send(T&& value) const { return of_.try_send(value); }
  void close() const { of_.close(); }

  std::size_t size() const { return of_.size(); }
  std::size_t capacity() const noexcept { return of_.capacity(); }
  explicit operator bool() const noexcept { return static_cast<bool>(of_); }
  /// Whether both are ends of one channel.
  friend bool operator==(const send_channel& a, const send_channel& b) noexcept = default;

 private:
  friend struct detail::channel_access;

  channel<T> of_;
};

}}  // namespace fj::v0_4
