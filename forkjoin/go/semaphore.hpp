// Permits that block the fiber, never its worker.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include <cstdint>

#include "forkjoin/detail/entry.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// Permits are given first in, first out; a release hands them to those that wait.
class semaphore {
 public:
  explicit semaphore(std::uint64_t permits) noexcept : core_(permits) {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// Waits for a permit. Throws fj::cancelled if options.stop was asked while it waited, std::bad_alloc if there is no memory
  /// to wait.
  void acquire(wait_options options = {}) {
    if (!core_.acquire(options.stop)) throw cancelled();
  }
  [[nodiscard]] bool try_acquire() noexcept { return core_.try_acquire(); }
  void release(std::uint64_t permits = 1) noexcept { core_.release(permits); }

 private:
  detail::semaphore_core core_;
};

}  // namespace fj::inline v0_1

#endif
