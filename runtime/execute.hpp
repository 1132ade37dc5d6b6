// How a worker runs fibers: the way from its native stack onto theirs, and back.
#pragma once

#include "runtime/worker.hpp"

namespace fj::detail {

/// Has `f` start with a stolen record of that job, or with the job itself if `record` is nullptr.
void begin(fiber& f, root& job, continuation* record) noexcept;

/// Runs `f`, and what follows from it, until there is nothing to follow. On the native stack.
void execute(worker& m, fiber* f) noexcept;

/// Suspends the running fiber. then(worker, fiber, argument) is called on the native stack once its context has been
/// saved, and from then on it may be resumed. Returns when it has been, perhaps on another worker.
void leave(worker::afterwards then, void* argument) noexcept;

/// Sets aside what it takes to suspend a fiber whose deque is not empty; false if that is not to be had.
bool prepare_to_detach(worker& m) noexcept;

}  // namespace fj::detail
