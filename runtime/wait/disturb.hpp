// Yields at random places, for options::chaos: before every operation on a channel, a lock or a future.
#pragma once

#include <atomic>

namespace fj::inline v0_1::detail {

/// Set when a runtime with options::chaos is made, and never taken back: one predictable branch for programs without.
extern std::atomic<bool> any_chaos;

/// Lets others run first if the strand's runtime is chaotic and the dice of its P say so. Nothing outside of any runtime.
void disturb_slow() noexcept;

inline void disturb() noexcept {
  if (any_chaos.load(std::memory_order_relaxed)) [[unlikely]]
    disturb_slow();
}

}  // namespace fj::inline v0_1::detail
