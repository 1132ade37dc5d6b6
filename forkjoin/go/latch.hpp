// Waits until so many have arrived, once.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "forkjoin/go/wait_group.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// As std::latch. A strand that waits leaves its worker to others, so one P is enough for any number of them. Cost of
/// each call, without a wait: a lock.
class latch {
 public:
  static constexpr std::ptrdiff_t(max)() noexcept { return (std::numeric_limits<std::ptrdiff_t>::max)(); }

  /// Throws std::invalid_argument if `expected` is negative.
  explicit latch(std::ptrdiff_t expected) {
    if (!left_.try_add(expected))
      throw std::invalid_argument("fj::latch: expected is " + std::to_string(expected) + "; set it to 0 or more");
  }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  /// So many arrive, without a wait. Throws std::logic_error if `n` is negative or more than are still expected; then
  /// nothing has changed.
  void count_down(std::ptrdiff_t n = 1) { arrived("fj::latch::count_down", n); }
  /// Whether all have arrived.
  [[nodiscard]] bool try_wait() noexcept { return left_.is_zero(); }
  /// Waits until all have arrived. Throws fj::cancelled if options.stop is asked to stop during the wait, fj::timed_out
  /// if the time options.until comes, std::bad_alloc if there is no memory for the wait.
  void wait(wait_options options = {}) {
    detail::throw_if_limited(left_.wait_for_zero(detail::limits_of(options, "fj::latch::wait")));
  }
  /// count_down, then wait. Throws what either throws; if the wait does, the strand has arrived all the same.
  void arrive_and_wait(std::ptrdiff_t n = 1, wait_options options = {}) {
    constexpr auto call = "fj::latch::arrive_and_wait";
    arrived(call, n);
    detail::throw_if_limited(left_.wait_for_zero(detail::limits_of(options, call)));
  }

 private:
  void arrived(const char* call, std::ptrdiff_t n) {
    if (n < 0 || !left_.try_add(-n))
      throw std::logic_error(std::string(call) + ": n is " + std::to_string(n) +
                             "; it must be 0 or more, and not more than are still expected");
  }

  wait_group left_;
};

}}  // namespace fj::v0_4
