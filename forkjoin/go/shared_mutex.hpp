// A mutex that readers share, and that blocks the fiber, never its worker.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include "forkjoin/detail/entry.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// Meets SharedLockable: use it with std::unique_lock for writers and std::shared_lock for readers.
///
/// Fairness: first in, first out. Readers that wait behind a writer wait for it, so neither side starves; readers that wait next
/// to each other are let in together.
class shared_mutex {
 public:
  shared_mutex() noexcept = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  // Writers. lock throws as mutex::lock.
  void lock(wait_options options = {}) { lock_as(true, options); }
  [[nodiscard]] bool try_lock() noexcept { return core_.try_lock(true); }
  void unlock() noexcept { core_.unlock(true); }

  // Readers.
  void lock_shared(wait_options options = {}) { lock_as(false, options); }
  [[nodiscard]] bool try_lock_shared() noexcept { return core_.try_lock(false); }
  void unlock_shared() noexcept { core_.unlock(false); }

 private:
  void lock_as(bool writes, const wait_options& options) {
    if (!core_.lock(writes, options.stop)) throw cancelled();
  }

  detail::shared_mutex_core core_;
};

}  // namespace fj::inline v0_1

#endif
