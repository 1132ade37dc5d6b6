// The active deque of a P: with which deque a fiber goes on, and what becomes of its records when it leaves to wait. On native
// stacks.
#pragma once

#include "worker.hpp"

namespace fj::inline v0_1::detail {

/// The deque that the fiber goes on with becomes the active one of the worker's P.
void install_deque(worker& m, fiber& f) noexcept;

/// After a fiber has left its stack to wait. Records in its deque go with it, and thieves find them by its marker. True if
/// there are some.
bool leave_deque(worker& m, fiber& left) noexcept;

/// After leave_deque returned true, if the worker goes on with another fiber, and not at the ready queue.
void leave_records_to_others(worker& m) noexcept;

}  // namespace fj::inline v0_1::detail
