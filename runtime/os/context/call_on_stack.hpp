// Calling a function on another stack, in such a way that somebody else may go on with the caller meanwhile.
//
// With assembly (call_on_stack_<processor>.S) that is a call like any other, save that the callee-saved registers are
// stored where somebody else can find them. With Boost.Context (FORKJOIN_BOOST_CONTEXT: other processors, sanitizers, or
// the build option `context`) it is two switches of contexts.
#pragma once

#include <cstdint>

#include "context.hpp"

namespace fj::inline v0_1::detail::os {

/// What is called. It returns to call_on_stack, or not at all: after a return_to of its caller it must end with
/// finish_context. No exception leaves it.
using stack_call = std::uintptr_t (*)(void* argument);

#ifdef FORKJOIN_BOOST_CONTEXT

/// Calls f(argument) on the stack of `callee` below `top`, and returns what it returns. While it runs, return_to may
/// make the call return on another thread, once: then nobody may let f return. Only while no exceptions are in flight.
std::uintptr_t call_on_stack(context& caller, context& callee, void* top, stack_call f, void* argument) noexcept;

/// Has the call_on_stack that is saved in `caller` return `value` on this thread. The strand `self`, which calls it, has
/// ended by that.
[[noreturn]] void return_to(context& self, context& caller, std::uintptr_t value) noexcept;

#else

extern "C" {
std::uintptr_t forkjoin_v0_1_call_on_stack(void** saved, void* top, stack_call f, void* argument);
[[noreturn]] void forkjoin_v0_1_return_to(void* saved, std::uintptr_t value);
}

[[gnu::always_inline]] inline std::uintptr_t call_on_stack(context& caller, context&, void* top, stack_call f,
                                                           void* argument) noexcept {
  return forkjoin_v0_1_call_on_stack(&caller.registers, top, f, argument);
}

[[noreturn]] inline void return_to(context&, context& caller, std::uintptr_t value) noexcept {
  forkjoin_v0_1_return_to(caller.registers, value);
}

#endif

}  // namespace fj::inline v0_1::detail::os
