// Interrupts: one thread of the process has another one call a function, by a signal.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// The signal unless the user names another: SIGURG, as in Go. The system ignores it where nothing handles it,
/// debuggers pass it on in silence, and a program that handles it can bear more of them.
int usual_interrupt_signal() noexcept;

/// Whether that is the number of a signal that a program may handle, and none of those that tell of faults, end or stop
/// programs, or have a meaning of the system's.
bool may_be_interrupt_signal(int number) noexcept;

/// From now on that signal interrupts threads. For good: a handler that was there before still gets the signals that
/// the library did not send. Where the system refuses to send a signal with a value (rt_tgsigqueueinfo), those of the
/// program's own raise and pthread_kill look like the library's. Further calls do no harm. False if the system refuses,
/// or if it is another signal already.
bool allow_interrupts(int number) noexcept;

/// That signal, or 0.
int interrupt_signal() noexcept;

/// The calling thread answers interrupts by answer(argument), which must be async-signal-safe, from now on; nullptr:
/// not any longer.
void on_interrupt(void (*answer)(void*) noexcept, void* argument) noexcept;

/// Whether the calling thread blocks the signal.
bool blocks_interrupts() noexcept;

/// Whether the signal still comes here: the program may have set a handler of its own since.
bool interrupts_are_handled() noexcept;

/// Threads of the library that start from now on let the signal through. With want_interrupts those that are there do,
/// too, once they come to let_interrupts_through.
void want_interrupts() noexcept;
void let_interrupts_through() noexcept;

/// Interrupts the thread of that number. A system call in which it sleeps may return EINTR. False if there is no such
/// thread.
bool interrupt(int thread) noexcept;

/// The number of the calling thread: the system's, or one of the library's own. Not in a signal handler.
int this_thread() noexcept;

/// Whether that is the calling thread, also in a signal handler.
bool is_this_thread(int thread) noexcept;

}}}}  // namespace fj::v0_4::detail::os
