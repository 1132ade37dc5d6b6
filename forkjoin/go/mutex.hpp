// A mutex that blocks the fiber, never its worker.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include "forkjoin/detail/entry.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// Meets Lockable: use it with std::unique_lock, std::scoped_lock. A fiber that waits leaves its stack, and its worker does
/// other work; a thread outside of any runtime sleeps. The strand that locked it unlocks it; it may be on another thread then.
/// Not recursive.
///
/// Fairness: a free mutex may be taken ahead of those that wait. A strand that has waited for 1 ms gets it at the next unlock;
/// those that wait are woken first in, first out.
///
/// Cost: one atomic operation to lock and one to unlock while no other strand wants it.
class mutex {
 public:
  mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Throws fj::cancelled if options.stop was asked while it waited, std::bad_alloc if there is no memory to wait.
  void lock(wait_options options = {}) {
    if (!core_.lock(options.stop)) throw cancelled();
  }
  [[nodiscard]] bool try_lock() noexcept { return core_.try_lock(); }
  void unlock() noexcept { core_.unlock(); }

 private:
  friend class condition_variable;
  detail::mutex_core core_;
};

}  // namespace fj::inline v0_1

#endif
