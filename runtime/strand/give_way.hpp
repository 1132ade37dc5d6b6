// How the running strand gives way to others when its time slice is over, or at random in chaos.
#pragma once

#include "../fork/deque.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// If the monitor asked the running strand for it, puts the strand at the end of the ready queue, with its records: no other
/// strand has them meanwhile. The strand may be on another worker afterwards. Nothing outside of any runtime, in a forked copy,
/// or while the system refuses memory.
void give_way_if_asked() noexcept;

/// After a push of the running strand that found the alarm of its deque on: answers the alarm, and gives way if the monitor asked
/// the strand for it.
void finish_push(deque& d) noexcept;

}}}  // namespace fj::v0_2::detail
