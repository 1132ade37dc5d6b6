// Waits until so many have arrived, in phases.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "wait_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

class barrier_core {
 public:
  struct arrival {
    bool counted;  ///< else `n` was wrong, and nothing has changed
    bool last;     ///< of its phase: the caller is to call begin_next_phase
    std::uint64_t phase;
  };

  explicit barrier_core(std::ptrdiff_t expected) noexcept : expected_(expected), left_(expected) {}

  /// So many arrive; of these, `dropped` do not in later phases.
  arrival arrive(std::ptrdiff_t n, std::ptrdiff_t dropped) noexcept;
  void begin_next_phase() noexcept;
  /// Waits until that phase is over.
  wait_end wait(std::uint64_t phase, const wait_limits& limits);

 private:
  os::mutex guard_;
  std::ptrdiff_t expected_ FORKJOIN_GUARDED_BY(guard_);  // in the next phase
  std::ptrdiff_t left_ FORKJOIN_GUARDED_BY(guard_);      // in this one
  std::uint64_t phase_ FORKJOIN_GUARDED_BY(guard_) = 0;
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}}  // namespace fj::v0_2::detail
