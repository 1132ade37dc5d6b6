// The context of a strand, and the call of a function on another stack, in such a way that a thief may continue the
// caller during the call.
//
// With assembly (runtime/os/context/call_on_stack_<CPU>.S) that is a call like any other, except that it stores
// the callee-saved registers where a thief can find them. With Boost.Context (FORKJOIN_BOOST_CONTEXT: other CPUs,
// sanitizers, or the build option `context`) it is two switches of contexts. The switches themselves are in
// runtime/os/context/switch_context.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// __cxa_eh_globals of the Itanium C++ ABI (section 2.2.2): the stack of caught exceptions, the number of uncaught
/// ones.
struct exception_globals {
  void* caught = nullptr;
  unsigned uncaught = 0;

  bool any() const noexcept { return reinterpret_cast<std::uintptr_t>(caught) | uncaught; }
};

/// The function that a fresh context starts with. It never returns: it ends with finish_context.
using context_entry = void (*)(void* argument);

/// What a strand keeps while it does not run, because it belongs to the strand and not to a thread: the stack pointer,
/// the callee-saved registers and floating-point control words (these lie on the stack itself), the C++
/// runtime's exceptions in flight, and the data that sanitizers keep of a stack.
struct context {
  void* registers = nullptr;
  /// What a fresh context starts with.
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

/// The function to call. It returns to call_on_stack, or never: if a thief has called return_to for its caller, it must
/// end with finish_context. It throws nothing.
using stack_call = std::uintptr_t (*)(void* argument);

#ifdef FORKJOIN_BOOST_CONTEXT

/// Calls f(argument) on the stack of `callee`, below the argument, which lies there, and returns its result. While f
/// runs, a thief may call return_to once: the call then returns on the thief's thread, and f must not return. Only
/// while no exceptions are in flight.
std::uintptr_t call_on_stack(context& caller, context& callee, stack_call f, void* argument) noexcept;

/// Makes the call_on_stack that is saved in `caller` return `value` on this thread. That ends the strand `self`, which
/// calls this.
[[noreturn]] void return_to(context& self, context& caller, std::uintptr_t value) noexcept;

#else

extern "C" {
std::uintptr_t forkjoin_v0_4_call_on_stack(void** saved, stack_call f, void* argument);
[[noreturn]] void forkjoin_v0_4_return_to(void* saved, std::uintptr_t value);
}

[[gnu::always_inline]] inline std::uintptr_t call_on_stack(context& caller, context&, stack_call f,
                                                           void* argument) noexcept {
  return forkjoin_v0_4_call_on_stack(&caller.registers, f, argument);
}

[[noreturn]] inline void return_to(context&, context& caller, std::uintptr_t value) noexcept {
  forkjoin_v0_4_return_to(caller.registers, value);
}

#endif

}}}}  // namespace fj::v0_4::detail::os
