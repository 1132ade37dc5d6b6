// What all fibers do, and where they wait: for programs that stand still.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include <csignal>

#include "forkjoin/detail/entry.hpp"

namespace fj::inline v0_1 {

/// Prints to standard error, for each runtime of the process, what each P does, how many fibers are ready, and where the others
/// wait: the function that waits, and the file, line and function that called it. Fibers that do the same are one line. From any
/// thread, at any time; each line was true at some time during the call.
inline void print_fibers() noexcept { detail::print_fibers(); }

/// From now on each such signal prints them: after `fj::print_fibers_on(SIGQUIT)`, Ctrl-\ in a terminal asks a program that
/// stands still why. The program goes on. A thread of its own prints. The environment variable FORKJOIN_SIGQUIT=1 does the same
/// when the first runtime is made. False if the system refuses that thread, or the signal.
inline bool print_fibers_on(int signal = SIGQUIT) noexcept { return detail::print_fibers_on(signal); }

}  // namespace fj::inline v0_1

#endif
