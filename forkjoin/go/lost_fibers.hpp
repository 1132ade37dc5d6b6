// Finds fibers that wait for what can come no more: leaks.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include "forkjoin/abi/fiber_reports.hpp"

namespace fj { inline namespace v0_4 {

/// The fibers of all runtimes of the process that are lost: nothing that can still run reaches the channel, lock or
/// future they wait for, so they wait for good, and keep what they hold. For example a fiber that sends into a channel
/// whose receiver has gone.
///
/// Stops all other threads two times, by SIGURG (or the signal of options::fence_signal, where that is in use), for a
/// time that grows with the memory that the program uses, and looks at all of it. Not every lost fiber is found: a
/// reference that is left somewhere hides it. forkjoin/guide/leaks.md says what hides one, and what a program must not
/// do for a report to be true. Where it cannot be said which fibers are lost, `not_available` says why. From any thread
/// or fiber. Throws std::bad_alloc.
inline lost_report lost_fibers() { return detail::find_lost_fibers(); }

}}  // namespace fj::v0_4
