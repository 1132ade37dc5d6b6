// The mutex of the runtime's strands and of threads outside.
#pragma once

#include "../sync/mutex.hpp"
#include "disturb.hpp"
#include "system.hpp"

namespace fj::inline v0_1::detail {

extern template wait_end basic_mutex<wait_system>::lock_slow(const wait_limits& limits);
extern template void basic_mutex<wait_system>::unlock_slow() noexcept;

/// A basic_mutex whose operations may give way first.
class mutex_core {
 public:
  [[nodiscard]] bool try_lock() noexcept { return rules_.try_lock(); }

  /// `served`: the caller has the mutex. Throws std::bad_alloc if there is no memory to wait.
  [[nodiscard]] wait_end lock(const wait_limits& limits) {
    disturb();
    return rules_.lock(limits);
  }

  /// As lock, but waits for memory, too.
  void lock_surely() noexcept;

  void unlock() noexcept {
    disturb();
    unlock_before_wait();
  }

  /// As unlock, by a strand that has made a waiter: it must not leave its P before it waits there.
  void unlock_before_wait() noexcept { rules_.unlock(); }

 private:
  basic_mutex<wait_system> rules_;
};

}  // namespace fj::inline v0_1::detail
