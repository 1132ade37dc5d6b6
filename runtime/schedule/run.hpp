// Jobs that come from outside: a thread or a fiber of another runtime calls run.
#pragma once

#include "scheduler.hpp"

namespace fj::inline v0_1::detail {

/// Runs the job from a thread or fiber that is not inside this runtime, and waits for it. The calling thread takes part.
/// Throws std::bad_alloc without a stack to be had, std::system_error without a thread that could run it.
void run(scheduler& s, root& job);

}  // namespace fj::inline v0_1::detail
