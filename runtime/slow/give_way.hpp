// How the running strand gives way to others when its time slice is over, or at random in chaos.
#pragma once

namespace fj::inline v0_1::detail {

/// If the monitor asked the running strand for it, puts the strand at the end of the ready queue, with its records: no other
/// strand has them meanwhile. The strand may be on another worker afterwards. Nothing outside of any runtime, in a forked copy,
/// or while the system refuses memory.
void give_way_if_asked() noexcept;

/// The same after a push that found the alarm on.
void give_way_at_fork() noexcept;

}  // namespace fj::inline v0_1::detail
