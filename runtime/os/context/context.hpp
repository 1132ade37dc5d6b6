// Switches from one stack to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "forkjoin/abi/context.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// For debuggers: how a strand is saved. 1 as call_on_stack_<CPU>.S says, 0 as Boost.Context does.
#ifdef FORKJOIN_BOOST_CONTEXT
inline constexpr unsigned switches_by_assembly = 0;
#else
inline constexpr unsigned switches_by_assembly = 1;
#endif

/// Stands for the exceptions of a thread that is between two handlers: it looks as if the thread handled one.
extern exception_globals between_handlers;

/// A pointer to the exception at that address, which handled_exception gave.
std::exception_ptr pointer_to(const void* exception) noexcept;

/// Whether a thread handles an exception. The thread may be another one; it must be alive.
bool handles_any(const exception_globals* threads) noexcept;

/// The exception that the calling thread handles, which std::current_exception() points to. `mine` are that thread's
/// globals. nullptr if the thread handles none, or only one of another language.
void* handled_exception(const exception_globals& mine) noexcept;

/// Calls f() in a handler of that exception, or in no handler if nullptr. The exception must be alive until then. f
/// throws nothing.
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

/// The exceptions of the calling thread: the same object for as long as the thread lives.
exception_globals& this_threads_exceptions() noexcept;

/// Replaces a thread's exceptions by `by`. Returns the ones before.
exception_globals exchange_exceptions(exception_globals& threads, const exception_globals& by) noexcept;

/// Says once which stack a context has: [bottom, bottom + size).
void give_stack(context& fresh, std::byte* bottom, std::size_t size) noexcept;

/// Makes `fresh` start with entry(argument) when first switched to, on its stack below `top`. The exceptions in flight
/// are none, the floating-point environment is the caller's.
void make_context(context& fresh, void* top, context_entry entry, void* argument) noexcept;

/// Makes `native` describe the calling thread's own stack. The thread must be on that stack when it first switches.
void adopt_native_stack(context& native) noexcept;

/// Frees what a sanitizer keeps for a context that will never run again.
void drop_context(context& dead) noexcept;

/// As switch_context, for a strand that ends: no worker may switch to `self` again before make_context.
void finish_context(context& self, context& next, exception_globals& threads) noexcept;
inline void finish_context(context& self, context& next) noexcept {
  finish_context(self, next, this_threads_exceptions());
}

/// The floating-point control words of the running strand (rounding, exception masks), and how to set them.
struct float_environment {
  unsigned control = 0;
  unsigned short x87_control = 0;
};
float_environment get_float_environment() noexcept;
void set_float_environment(const float_environment& environment) noexcept;

/// While it lives, the calling strand looks like a fresh one: no exceptions caught or in flight, and these control
/// words. For a record that runs on top of another strand. It may end on another thread than it began on.
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

}}}}  // namespace fj::v0_4::detail::os
