// What the detector tells of the races it has found, when the program ends.
#pragma once

#include <cstddef>

#include "runtime/races/locks.hpp"
#include "runtime/races/shadow.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

/// Set in the address of an instruction: it frees the memory.
inline constexpr address frees = address{1} << 63;

/// The access that a cell knows of, and the one that is happening.
struct earlier_access {
  strand_id strand;
  site_id at;
  bool writes;
  lock_set under;
};

/// Notes a race at this address, once for each pair of places in the code.
void note_race(address at, const earlier_access& first, address pc, bool writes) noexcept;

/// Notes that a strand joins a scope before an inner one of its own, for the first time: what the strands of that one
/// have read before may have been forgotten.
void note_crossed_joins(address pc) noexcept;

/// Warns of code that was not compiled for the detector: of all, or of shared libraries.
void tell_unseen(bool all) noexcept;

/// Tells of all races that no suppression silences, and returns their number.
std::size_t tell_races() noexcept;

}}}}  // namespace fj::v0_4::detail::races
