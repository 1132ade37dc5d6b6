// Signals from one thread of the process to another.
#pragma once

#include <signal.h>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Sends the signal to the thread of that number (interrupt.hpp: this_thread). False if there is no such thread.
bool signal_thread(int thread, int signal) noexcept;

/// The same, so that its handler can tell it from what the program sends, where the system has a way.
bool interrupt_thread(int thread, int signal) noexcept;

/// In a handler: whether interrupt_thread has sent the signal.
bool is_interrupt(const siginfo_t& about) noexcept;

}}}}  // namespace fj::v0_4::detail::os
