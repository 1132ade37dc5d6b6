// A signal that has something done outside of its handler.
#pragma once

namespace fj::inline v0_1::detail::os {

/// From now on each such signal has a thread call `act`, which may do what a signal handler may not; signals that come while
/// it acts count as one. The first call starts the thread, which runs until the process ends; later calls for other signals
/// use it, and all of them call the same `act`. After fork(2) the child calls this again. False, with errno, if the system refuses the thread, a pipe or the signal.
[[nodiscard]] bool on_signal(int number, void (*act)() noexcept) noexcept;

}  // namespace fj::inline v0_1::detail::os
