// Atomic counters that owners take down: reference counts, and counts of branches that have yet to come. In every
// schedule the one that takes such a counter to zero comes after what the others did before they took it down,
// whichever strand it is: what it does then, as the last owner, races with nothing of that. So such races are not told
// up to the end of the function that took the counter down, or until the memory of the counter is free.
//
// Nothing else about atomics orders accesses in every schedule. Where each branch takes a counter up and down, it is
// zero in the serial run by chance: so there must be another one that took it down before, and that runs beside the
// last.
//
// Which strands were before a decrement can only be asked while it happens. So the counter keeps their numbers, as
// intervals: those of its branch so far, and of its ancestors' before they forked. A strand that takes a counter down
// gets a new number, so that what it does afterwards does not count. An ancestor does not: what it does after the fork
// seems to be before.
#pragma once

#include <cstddef>

#include "runtime/races/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

/// The running strand took the counter down, to zero or to another value.
void count_down(address counter, bool to_zero);

/// Whether the running strand is the last owner of a counter that this strand, or one after it, has taken down: so is
/// before.
bool is_before_last_owner(strand_id s) noexcept;

/// The end of functions, of a branch, or of a block of memory, behind which there is no last owner any more.
void end_of_functions() noexcept;
void end_of_branch_slow(const branch_frame* frame) noexcept;
void end_of_memory(address begin, std::size_t n) noexcept;

[[gnu::always_inline]] inline void end_of_branch(const branch_frame* frame) noexcept {
  if (now.last_owner_below != 0) [[unlikely]]
    end_of_branch_slow(frame);
}

/// The outermost block ends: all owners so far are before what comes.
void forget_counters() noexcept;

}}}}  // namespace fj::v0_4::detail::races
