// Waits for an event that other strands announce.
#pragma once

#include "../os/mutex.hpp"
#include "../os/thread_safety.hpp"
#include "mutex.hpp"
#include "wait_queue.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

class condition_core {
 public:
  /// Frees the mutex, waits, and takes the mutex again. `served`: a notification came.
  wait_end wait(mutex_core& user, const wait_limits& limits);
  void notify_one() noexcept;
  void notify_all() noexcept;

 private:
  os::mutex guard_;
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

}}}  // namespace fj::v0_2::detail
