// The active deque of a P: which deque a fiber goes on with, and what happens to its records when it leaves to wait. These
// functions run on native stacks.
#pragma once

#include "worker.hpp"

namespace fj::inline v0_1::detail {

/// The deque that the fiber goes on with becomes the active one of the worker's P.
void install_deque(worker& m, fiber& f) noexcept;

/// After a fiber has left its stack to wait: calls m.then, by which the wait may end, and returns the fiber that goes on on this
/// worker, or nullptr. Before that, records in the active deque leave with the fiber, and thieves find them by its marker.
fiber* leave_deque(worker& m, fiber& left) noexcept;

}  // namespace fj::inline v0_1::detail
