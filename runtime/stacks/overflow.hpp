// Finds strands that have used more than their stack.
#pragma once

#include "runtime/stacks/fiber.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Says that the strand of `f` has used up its stack, and what to raise. `of_go`: it is the strand that fj::go started.
/// Async-signal-safe.
void print_overflow(const fiber& f, bool of_go) noexcept;

/// Ends the process with that message if the strand went below its stack.
void stop_if_overrun(const fiber& f) noexcept;

/// When the strand of a fiber has just left its stack, which may be a small one without a guard. A guard would stop the
/// strand at once; here other fibers may have run meanwhile, but below the stack lie only the bytes of the guard that
/// there is not, tuning::small_guard of them.
///
/// The canary is the words right below the stack. They are zero because the system gives them so, and take no memory as
/// long as they are only read. A strand that comes there leaves a return address in them, unless one frame steps over
/// all.
inline void check_canary(const fiber& f) noexcept {
  if (f.guard == os::guard::none) [[unlikely]]
    stop_if_overrun(f);
}

}}}  // namespace fj::v0_4::detail
