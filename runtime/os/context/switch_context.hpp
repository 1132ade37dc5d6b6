// The switch from one stack to another: beside the stacks themselves it exchanges the exception globals (a `throw;`
// after a migration would find another thread's exception), and tells the sanitizers.
//
// Inline: after a switch each return of a function takes as long as a branch that was not foreseen, because the CPU
// foresees returns by the calls that it has seen, which were another stack's.
#pragma once

#include <cstdint>

#include "forkjoin/abi/os/address_checker.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/os/context/context.hpp"

#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
#include <sanitizer/common_interface_defs.h>
#endif

// Unwinders and debuggers stop here instead of looking for a caller above.
#if defined(__x86_64__)
#define FORKJOIN_OUTERMOST_FRAME asm volatile(".cfi_undefined rip")
#elif defined(__aarch64__)
#define FORKJOIN_OUTERMOST_FRAME asm volatile(".cfi_undefined x30")
#else
#define FORKJOIN_OUTERMOST_FRAME static_cast<void>(0)
#endif

// For functions that run between two stacks. ThreadSanitizer takes the stacks for threads, and would see a race in the
// values that they pass on. AddressSanitizer would put locals on a fake stack that is gone when its fiber ends.
#define FORKJOIN_BETWEEN_STACKS __attribute__((no_sanitize("address", "thread")))

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// What begins on a fresh stack, with its argument and the value that the first switch to the stack passes on.
using fresh_call = void (*)(void* argument, std::uintptr_t value);

// In assembly, or by Boost.Context.
extern "C" {
/// Saves the calling strand: leaves its registers on its stack, and their address in *saved. Goes on with the strand at
/// `next`, which was saved so, or with a fresh stack; there, switch_stack returns `value`.
std::uintptr_t forkjoin_v0_4_switch_stack(void** saved, void* next, std::uintptr_t value);
/// What goes on with f(argument, value) below `top`, which never returns. The floating-point control words are the
/// caller's.
void* forkjoin_v0_4_fresh_stack(void* top, fresh_call f, void* argument);
}

#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
/// The part of announce_switch for AddressSanitizer.
void announce_stack(void** fake_stack, const context& next) noexcept;
#endif

/// The thread goes from one stack to another: tells the sanitizers. `fake_stack` of the one that it leaves; nullptr if
/// that one ends.
FORKJOIN_BETWEEN_STACKS inline void announce_switch([[maybe_unused]] void** fake_stack,
                                                    [[maybe_unused]] const context& next) noexcept {
#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
  announce_stack(fake_stack, next);
#endif
#ifdef FORKJOIN_RACE_DETECTOR
  // no_sync: a switch as such orders nothing between threads; if it counted as a release and acquire, races between
  // strands would be hidden.
  __tsan_switch_to_fiber(next.tsan_fiber, __tsan_switch_to_fiber_no_sync);
#endif
}

/// The strand goes on, or begins, on the thread with these exceptions, as switch_stack says.
FORKJOIN_BETWEEN_STACKS inline void arrive_on_thread(context& self, std::uintptr_t threads) noexcept {
#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
  __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#endif
  *reinterpret_cast<exception_globals*>(threads) = self.exceptions;
}

/// Saves the running strand in `self` and goes on with `next`. Returns when a worker switches to `self`, perhaps on
/// another thread. Orders nothing between threads; the caller must do that. `threads`: this_threads_exceptions(), which
/// costs two calls.
FORKJOIN_BETWEEN_STACKS inline void switch_context(context& self, context& next, exception_globals& threads) noexcept {
  self.exceptions = threads;
  announce_switch(&self.fake_stack, next);
  arrive_on_thread(
      self, forkjoin_v0_4_switch_stack(&self.registers, next.registers, reinterpret_cast<std::uintptr_t>(&threads)));
}
inline void switch_context(context& self, context& next) noexcept {
  switch_context(self, next, this_threads_exceptions());
}

}}}}  // namespace fj::v0_4::detail::os
