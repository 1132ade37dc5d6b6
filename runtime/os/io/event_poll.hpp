// Events of many descriptors at once, and what ends waits for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Something happened to the descriptor that was added with these data. An error or a hang-up is both.
struct io_event {
  std::uint64_t data = 0;
  bool readable = false;
  bool writable = false;
};

/// As many as are asked for at once.
using io_events = std::array<io_event, 64>;

/// Results that are an int: 0, or the errno of what failed.
class event_poll {
 public:
  event_poll() noexcept = default;
  ~event_poll();
  event_poll(const event_poll&) = delete;
  event_poll& operator=(const event_poll&) = delete;

  [[nodiscard]] int open() noexcept;
  void close() noexcept;

  /// From now on what happens to that descriptor, and once what is there already, is reported, if it was asked for.
  /// `data`: not `own`. EEXIST: it has been added before. EPERM: a regular file, or what else is always ready.
  [[nodiscard]] int add(int descriptor, std::uint64_t data) noexcept;
  /// Asks for the next report that it is readable (or writable). To be called before each wait for one: a system
  /// without edges would report again and again what nobody reads, so there a report ends what was asked for. May give
  /// a report that says nothing new.
  void ask(int descriptor, bool to_write) noexcept {
    if constexpr (must_ask) ask_again(descriptor, to_write);
  }
  /// No longer. It has not been closed yet.
  void remove(int descriptor) noexcept;

  /// What has happened, as far as there is room; returns how much. Does not wait, and leaves an interrupt to the
  /// sleeper.
  std::size_t look(io_events& into) noexcept;
  /// The same after something has happened, after an interrupt, at the time `until` of os::now_ns, or for no reason.
  /// One thread at a time.
  std::size_t sleep(io_events& into, std::int64_t until) noexcept;
  /// Ends the present sleep, or the next one.
  void interrupt() noexcept;

  /// Waits until a look would find something, and takes nothing; true then, or if an interrupt is left to the sleeper.
  /// False at the time `until` of os::now_ns, after end_await, or for no reason. One thread at a time, beside the
  /// sleeper.
  bool await(std::int64_t until) noexcept;
  /// Ends the present await, or the next one.
  void end_await() noexcept;

  static constexpr std::uint64_t own = 0;
#ifdef FORKJOIN_POSIX
  static constexpr bool must_ask = true;
#else
  static constexpr bool must_ask = false;  // edges: each is reported once
#endif

 private:
  struct state;

  std::size_t wait(io_events& into, std::int64_t until, bool sleeps) noexcept;
  void ask_again(int descriptor, bool to_write) noexcept;

  state* state_ = nullptr;  // from the first open to the end
};

}}}}  // namespace fj::v0_4::detail::os
