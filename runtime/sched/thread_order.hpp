// With options::thread_order, ThreadSanitizer sees strands that ran on one thread in the order in which they ran there.
//
// The address of the C++ runtime's data of a thread names the thread, because another thread may use the same worker
// object for its next job.
#pragma once

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// By a strand that begins or goes on.
inline void come_after_thread([[maybe_unused]] const worker& m) noexcept {
  if constexpr (os::races_are_detected)
    if (m.sched().settings().thread_order) os::happens_after(m.exceptions);
}

/// By a strand that was asked to stop, before it destroys its std::stop_callback. If the strand that asked ran on the
/// same thread, the standard library takes the two for one, and relies on the thread's order.
inline void come_after_stop([[maybe_unused]] const worker& m) noexcept { os::happens_after(&m.then); }

/// By a strand that leaves its thread.
inline void come_before_thread([[maybe_unused]] const worker& m) noexcept {
  os::happens_before(&m.then);
  if constexpr (os::races_are_detected)
    if (m.sched().settings().thread_order) os::happens_before(m.exceptions);
}

}}}  // namespace fj::v0_4::detail
