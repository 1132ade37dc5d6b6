// Atomic counters that owners take down: reference counts, and counts of branches that have yet to come. In every schedule the one that takes
// such a counter to zero comes after all others, whoever it is: what it does then, as the last owner, races with nothing that they did.
// So it is not watched up to the end of the function that took the counter down, or until the memory of the counter is free.
//
// Nothing else about atomics orders accesses in every schedule. Where each branch takes a counter up and down, it is zero in the serial run
// by chance: so there must be another one that took it down before, and that runs beside the last.
#pragma once

#include <cstddef>

#include "strands.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace races {

/// The running strand took the counter down, to zero or to another value.
void count_down(address counter, bool to_zero);

/// The end of a function, of a branch, or of a block of memory, behind which the last owner is watched again.
void end_silence() noexcept;

[[gnu::always_inline]] inline void end_silence_in(const branch_frame* frame) noexcept {
  if (now.silent_below != 0 && now.silent_in == frame) [[unlikely]]
    end_silence();
}

}}}}  // namespace fj::v0_2::detail::races
