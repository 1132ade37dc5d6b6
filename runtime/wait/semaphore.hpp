// A counting semaphore: permits that strands take and give back.
#pragma once

#include <cstdint>

#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "wait_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// A number of permits. Those that wait get them first in, first out.
class semaphore_core {
 public:
  explicit semaphore_core(std::uint64_t permits) noexcept : permits_(permits) {}
  bool try_acquire() noexcept;
  /// `served`: the caller has a permit.
  wait_end acquire(const wait_limits& limits);
  void release(std::uint64_t permits) noexcept;
  std::uint64_t available() const noexcept;

 private:
  mutable os::mutex guard_;
  std::uint64_t permits_ FORKJOIN_GUARDED_BY(guard_);
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}}  // namespace fj::v0_2::detail
