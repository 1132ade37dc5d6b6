// Waits until a count is zero.
#pragma once

#include <cstdint>

#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "wait_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Counts what is to be waited for.
class wait_group_core {
 public:
  /// False if the count would be negative; then it is as before.
  bool add(std::int64_t change) noexcept;
  wait_end wait(const wait_limits& limits);
  bool is_zero() noexcept;

 private:
  os::mutex guard_;
  std::int64_t count_ FORKJOIN_GUARDED_BY(guard_) = 0;
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}}  // namespace fj::v0_2::detail
