// Roots that come from outside: a thread, or a fiber of another runtime, calls run.
#pragma once

#include "../fork/root.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Throws std::logic_error in a process that fork(2) made after the runtime, and in a thread that takes no turns where the runtime's do.
void refuse_root(const scheduler& s);

/// Has the runtime work for the root, from a thread or fiber that is not inside it, and waits until it is over. A calling
/// thread takes part. Throws std::bad_alloc if the system refuses a stack, std::system_error if it refuses every thread that
/// could run the root, std::logic_error as refuse_root.
void run_root(scheduler& s, root& brought);

}}}  // namespace fj::v0_2::detail
