// What all fibers do and where they wait: for programs that hang, and for metrics.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <csignal>
#include <string>

#include "forkjoin/abi/fiber_reports.hpp"

namespace fj { inline namespace v0_4 {

/// Prints to standard error, for each runtime of the process, what each P does, how many fibers are ready, and where
/// the other fibers wait: the function that waits, and the file, line and function that called it. Fibers that do the
/// same share one line. Any thread may call it at any time. Each line was true at some time during the call.
inline void print_fibers() noexcept { detail::print_fibers(); }

/// The text that `fj::print_fibers` prints: for a page of a server, or a log. Throws std::bad_alloc.
inline std::string describe_fibers() { return detail::describe_fibers(); }

/// How many fibers there are that have not ended: for a metric, or a test that compares the counts before and after.
/// The count of a fiber goes down shortly after its future is ready. Reads a word of each stack that the runtimes have.
inline fiber_counts count_fibers() noexcept { return detail::count_fibers(); }

/// From now on the program prints its fibers at each such signal, and continues: after `fj::print_fibers_on(SIGQUIT)`,
/// Ctrl-\ in a terminal shows why a program hangs. A separate thread prints. The environment variable
/// FORKJOIN_SIGQUIT=1 does the same when the first runtime is made. Replaces the program's own handler of that signal.
/// False, and nothing has changed, for a signal of a fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP), after which a
/// program cannot continue, and if the system refuses the thread or the signal.
inline bool print_fibers_on(int signal = SIGQUIT) noexcept { return detail::print_fibers_on(signal); }

}}  // namespace fj::v0_4
