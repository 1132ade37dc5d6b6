// Where strands give way in calls into the runtime: before every operation on a channel, a lock or a future, and before go. A
// strand gives way there when its time slice is over, and at random with options::chaos.
#pragma once

#include <atomic>

#include "../schedule/disturbances.hpp"

namespace fj::inline v0_1::detail {

/// Lets others run first if the strand's runtime is chaotic and the dice of its P say so, or if the monitor asked for it. Nothing
/// outside of any runtime.
void disturb_slow() noexcept;

inline void disturb() noexcept {
  if (disturbances.load(std::memory_order_relaxed) != 0) [[unlikely]]
    disturb_slow();
}

}  // namespace fj::inline v0_1::detail
