// What another thread does at the moment.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Threads that are started from now on can be asked for a backtrace.
void allow_backtraces() noexcept;
/// Whether they can.
bool backtraces_allowed() noexcept;

/// In the handler of the signal that os/interrupt.hpp answers, if that is SIGURG.
[[gnu::noinline]] void answer_backtrace() noexcept;

/// Prints the calls that the thread of this process, by the system's number, is in to standard error: a module and an
/// offset in it each, as addr2line reads them. Interrupts the thread by SIGURG: a system call that it sleeps in may
/// return EINTR. Says so if the program handles that signal itself, or if the thread does not answer within 0.2 s.
void print_backtrace(int thread) noexcept;

}}}}  // namespace fj::v0_4::detail::os
