// Permits that strands take and give back.
#pragma once

#include <cstdint>
#include <stop_token>

#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "wait_queue.hpp"

namespace fj::inline v0_1::detail {

/// A number of permits. Those that wait get them first in, first out.
class semaphore_core {
 public:
  explicit semaphore_core(std::uint64_t permits) noexcept : permits_(permits) {}
  bool try_acquire() noexcept;
  /// False if the token was asked to stop first.
  bool acquire(const std::stop_token* stop);
  void release(std::uint64_t permits) noexcept;
  std::uint64_t available() const noexcept;

 private:
  mutable os::mutex guard_;
  std::uint64_t permits_ FORKJOIN_GUARDED_BY(guard_);
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}  // namespace fj::inline v0_1::detail
