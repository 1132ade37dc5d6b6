// Leaving one stack for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "../../base/relaxed.hpp"

namespace fj::inline v0_1::detail::os {

/// __cxa_eh_globals of the Itanium C++ ABI (section 2.2.2): the stack of caught exceptions, the number of uncaught ones.
struct exception_globals {
  void* caught = nullptr;
  unsigned uncaught = 0;

  bool any() const noexcept { return reinterpret_cast<std::uintptr_t>(caught) | uncaught; }
};

/// What a thread seems to have that goes from one handler to another: some exception.
extern exception_globals between_handlers;

/// A pointer to an exception of which the address is known, as handled_exception gives it.
std::exception_ptr pointer_to(const void* exception) noexcept;

/// Whether a thread handles an exception; of any thread that is alive.
bool handles_any(const exception_globals* threads) noexcept;

/// The exception that the calling thread, whose globals these are, handles: what std::current_exception() points to. nullptr
/// if there is none, or only one of another language.
void* handled_exception(const exception_globals& mine) noexcept;

/// Calls f() in a handler of that exception, which must be alive until it is; without, if nullptr. f throws nothing.
template <class F>
auto call_handling(const void* exception, F f) noexcept {
  if (!exception) [[likely]]
    return f();
  try {
    std::rethrow_exception(pointer_to(exception));
  } catch (...) {
    return f();
  }
}

/// Ends the handlers that the calling strand is in, for a strand that does not return to them.
void end_handlers(const exception_globals& mine) noexcept;

/// Those of the calling thread; the same object for as long as the thread lives.
exception_globals& this_threads_exceptions() noexcept;

/// Puts `by` in the place of a thread's and returns what was there.
exception_globals exchange_exceptions(exception_globals& threads, const exception_globals& by) noexcept;

/// The function a fresh context starts with. Never returns: it leaves for good with finish_context.
using context_entry = void (*)(void* argument);

/// What belongs to a strand of execution and not to the thread that runs it, while the strand is not running: stack
/// pointer and callee-saved registers with the floating-point control words (Boost.Context keeps these on the stack
/// itself), the C++ runtime's exceptions in flight, and what sanitizers want to know of a stack.
struct context {
  void* registers = nullptr;
  /// What a fresh one starts with.
  context_entry entry = nullptr;
  void* argument = nullptr;
  exception_globals exceptions;
  relaxed<std::uintptr_t> returned = 0;  ///< from a call_on_stack, where that is two switches
  // For make_context, the sanitizers and valgrind.
  std::byte* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* fake_stack = nullptr;
  void* tsan_fiber = nullptr;
  unsigned valgrind_stack = 0;
};

/// Says once which stack a context has: [bottom, bottom + size).
void give_stack(context& fresh, std::byte* bottom, std::size_t size) noexcept;

/// Makes `fresh` start with entry(argument) when first switched to, on its stack below `top`. The exceptions in flight
/// are none, the floating-point environment is the caller's.
void make_context(context& fresh, void* top, context_entry entry, void* argument) noexcept;

/// Has `native` describe the calling thread's own stack, on which it must be when it first switches.
void adopt_native_stack(context& native) noexcept;

/// Frees what a sanitizer keeps for a context that will never run again.
void drop_context(context& dead) noexcept;

/// Saves the running strand in `self` and goes on with `next`; returns when somebody switches to `self`, perhaps on
/// another thread. Orders nothing between threads: that is the caller's affair.
void switch_context(context& self, context& next) noexcept;

/// As switch_context, for a strand that ends: nobody may switch to `self` again before make_context.
void finish_context(context& self, context& next) noexcept;

/// The floating-point control words of the running strand (rounding, exception masks), and how to set them.
struct float_environment {
  unsigned control = 0;
  unsigned short x87_control = 0;
};
float_environment get_float_environment() noexcept;
void set_float_environment(const float_environment& environment) noexcept;

/// While it lives, the calling strand is as a fresh one: no exceptions caught or in flight, and these control words. For
/// what runs on top of a strand and is none of its business. May end on another thread than it began on.
class strand_on_top {
 public:
  explicit strand_on_top(const float_environment& floats) noexcept;
  ~strand_on_top();
  strand_on_top(const strand_on_top&) = delete;
  strand_on_top& operator=(const strand_on_top&) = delete;

 private:
  context below_;
  float_environment floats_below_;
};

}  // namespace fj::inline v0_1::detail::os
