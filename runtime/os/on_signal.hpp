// Signals at which a thread acts, outside of the signal handler.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// From now on each such signal has a thread call `act`, which may do what a signal handler may not; signals that come
/// while it acts count as one. The first call starts the thread, which runs until the process ends; later calls for
/// other signals use it, and all of them call the same `act`. After fork(2) the child calls this again. False if the
/// system refuses the thread or the signal.
[[nodiscard]] bool on_signal(int number, void (*act)() noexcept) noexcept;

/// How many threads on_signal has started in this process: 0 or 1.
unsigned threads_for_signals() noexcept;

/// Whether the program handles a signal of its own, which may come from outside and do what it likes. Not counted are
/// signals of faults and of profilers, and those of on_signal.
bool handles_other_signals() noexcept;

}}}}  // namespace fj::v0_4::detail::os
