// Prints a message for a stack overflow.
#pragma once

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// Called from the signal handler with the address of a faulting access and the stack pointer at the time (nullptr
/// where it is not known). Returns true after it has printed (with print_error) what went wrong; false to pass the
/// fault on to the handler that was there before. Must be async-signal-safe.
using fault_reporter = bool (*)(const void* address, const void* stack_pointer) noexcept;

/// Installs a handler for SIGSEGV and SIGBUS that calls `reporter`, then aborts. A fault that the reporter does not
/// know goes to the handler that was there before. Works once per process; later calls do nothing.
void report_memory_faults(fault_reporter reporter) noexcept;

/// Gives the calling thread a stack for that handler, unless it has one. Freed when the thread ends. Without one (no
/// memory) an overflow is a plain SIGSEGV.
void ensure_alternate_stack() noexcept;

/// Writes `text` to standard error; async-signal-safe.
void print_error(const char* text) noexcept;

/// As print_error, for a number in decimal.
void print_error(unsigned long number) noexcept;

}}}}  // namespace fj::v0_2::detail::os
