// The mutex of the runtime's strands and of threads outside.
#pragma once

#include <source_location>

#include "maybe_yield.hpp"
#include "mutex_protocol.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Ends the process: that call unlocks a mutex that is not locked, or not in that way.
[[noreturn, gnu::cold]] void report_not_locked(const char* call, std::source_location at) noexcept;

/// A mutex_protocol whose waits give way first.
class mutex_core {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    if (rules_.try_lock()) return true;
    maybe_yield();
    return false;
  }

  /// `served`: the caller has the mutex. Throws std::bad_alloc if there is no memory to wait.
  [[nodiscard]] wait_end lock(const wait_limits& limits) {
    if (yield_requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return give_way_and_lock(limits);
    return rules_.lock(limits);
  }

  /// As lock, but waits for memory, too.
  void lock_surely() noexcept;

  /// `call` and `at`: for the message, if the mutex is not locked. By value, so that they cost nothing otherwise.
  void unlock(const char* call, std::source_location at) noexcept {
    if (!rules_.unlock()) report_not_locked(call, at);
  }

 private:
  wait_end give_way_and_lock(const wait_limits& limits);

  mutex_protocol rules_;
};

}}}  // namespace fj::v0_2::detail
