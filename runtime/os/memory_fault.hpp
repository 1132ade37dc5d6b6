// Prints a message for a stack overflow, and has a program go on when a file loses what is mapped.
#pragma once

#include <atomic>
#include <cstddef>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Called from the signal handler with the address of a faulting access and the stack pointer at the time (nullptr
/// where it is not known). Returns true after it has printed (with print_error) what went wrong; false to pass the
/// fault on to the handler that was there before. Must be async-signal-safe.
using fault_reporter = bool (*)(const void* address, const void* stack_pointer) noexcept;

/// In a signal handler, of its third argument: the stack pointer of what the signal interrupted; nullptr where that is
/// not known.
const void* stack_pointer_of(const void* context) noexcept;

/// Installs a handler for SIGSEGV and SIGBUS that calls `reporter`, then aborts. A fault that the reporter does not
/// know goes to the handler that was there before. Works once per process; later calls do nothing.
void report_memory_faults(fault_reporter reporter) noexcept;

/// Memory that is a file's. When the file has it no more, because another process has made it shorter or its disk is
/// broken, an access finds zeros instead of ending the process by SIGBUS, once report_memory_faults was called, unless
/// the program handles SIGBUS itself since.
class guarded_memory {
 public:
  /// One that guards nothing yet. None is ever freed, as a signal handler reads all of them: `end` leaves it to a later
  /// `make`. Throws std::bad_alloc.
  static guarded_memory& make();
  void begin(void* memory, std::size_t bytes) noexcept;
  void end() noexcept;

  /// Whether the file has lost it.
  bool is_lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  /// In the signal handler: whether the address was a file's, and has memory again.
  static bool mend(const void* address) noexcept;

 private:
  std::atomic<bool> used_{true};
  std::atomic<std::byte*> begin_{nullptr};
  std::atomic<std::size_t> bytes_{0};
  std::atomic<bool> lost_{false};
  guarded_memory* next_ = nullptr;
};

/// These whole pages are zeros of this process alone from now on. False if the system refuses.
bool replace_by_zeros(std::byte* begin, std::size_t bytes) noexcept;

/// Gives the calling thread a stack for that handler, unless it has one. Freed when the thread ends. Without one (no
/// memory) an overflow is a plain SIGSEGV.
void ensure_alternate_stack() noexcept;

/// Writes `text` to standard error; async-signal-safe.
void print_error(const char* text) noexcept;

/// As print_error, for a number in decimal.
void print_error(unsigned long number) noexcept;

}}}}  // namespace fj::v0_4::detail::os
