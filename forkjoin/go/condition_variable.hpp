// Waits under a fj::mutex for what other strands announce.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include <mutex>

#include "forkjoin/detail/entry.hpp"
#include "forkjoin/go/mutex.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// As std::condition_variable, for fj::mutex. A wait ends by a notification only, never by itself; but another strand may have
/// had the mutex since, so wait for a condition.
class condition_variable {
 public:
  condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Frees the lock, waits, and takes the lock again. Throws fj::cancelled if options.stop was asked before a notification
  /// came, std::bad_alloc if there is no memory to wait; the lock is held then, too.
  void wait(std::unique_lock<mutex>& lock, wait_options options = {}) {
    if (!core_.wait(lock.mutex()->core_, options.stop)) throw cancelled();
  }

  /// Waits until condition() holds; it is called with the lock held.
  template <class Condition>
  void wait(std::unique_lock<mutex>& lock, Condition condition, wait_options options = {}) {
    while (!condition()) wait(lock, options);
  }

  /// The strand that has waited longest goes on.
  void notify_one() noexcept { core_.notify_one(); }
  void notify_all() noexcept { core_.notify_all(); }

 private:
  detail::condition_core core_;
};

}  // namespace fj::inline v0_1

#endif
