// Waits until a count is 0.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/wait_queue.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "forkjoin/go/wait_options.hpp"

namespace fj { inline namespace v0_4 {

/// As Go's sync.WaitGroup: the count begins as 0, any strand or thread may change it and wait, and it may be used again
/// once it is 0. Cost of each call, without a wait: a lock. For children of one function use fj::fork_join or
/// fj::scope: they return results and exceptions.
class wait_group {
 public:
  wait_group() noexcept = default;
  wait_group(const wait_group&) = delete;
  wait_group& operator=(const wait_group&) = delete;

  /// Throws std::logic_error if the count would become negative, or more than 2^63 - 1; then the count has not changed.
  void add(std::int64_t change = 1) { add_for("fj::wait_group::add", change); }
  /// As add(-1).
  void done() { add_for("fj::wait_group::done", -1); }

  /// Waits until the count is 0. Throws fj::cancelled if options.stop is asked to stop during the wait, fj::timed_out
  /// if the time options.until comes, std::bad_alloc if there is no memory for the wait.
  void wait(wait_options options = {}) {
    detail::throw_if_limited(wait_for_zero(detail::limits_of(options, "fj::wait_group::wait")));
  }

 private:
  friend class latch;

  void add_for(const char* call, std::int64_t change) {
    if (try_add(change)) return;
    throw std::logic_error(std::string(call) + ": a change of " + std::to_string(change) +
                           (change < 0 ? " would make the count negative; call add before done"
                                       : " would make the count exceed 2^63 - 1; call done for what has ended"));
  }
  /// False if the count would be negative, or too large; then it is as before.
  bool try_add(std::int64_t change) noexcept;
  bool is_zero() noexcept;
  detail::wait_end wait_for_zero(const detail::wait_limits& limits);

  detail::os::mutex guard_;
  std::int64_t count_ FORKJOIN_GUARDED_BY(guard_) = 0;
  detail::wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}  // namespace fj::v0_4
