// How the running strand gives way to others when its time slice is over, or at random in chaos.
#pragma once

#include "forkjoin/abi/loop.hpp"
#include "runtime/fork/deque.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// After a push of the running strand that found a request in its deque: answers it, and gives way if the monitor asked
/// the strand for it.
void finish_push(deque& d) noexcept;

}}}  // namespace fj::v0_4::detail
