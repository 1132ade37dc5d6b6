// Accesses under locks: two that some lock excludes are no race. A cell that was accessed under a lock has a list of
// accesses with their lock sets, as ALL-SETS has it: Cheng, Feng, Leiserson, Randall and Stark, "Detecting data races
// in Cilk programs that use locks", 1998. One representative a cell would lose races: an access under a lock would hide
// one without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/races/shadow.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

/// A set of locks that a strand held. 0: none.
using lock_set = std::uint32_t;

void acquire(const void* lock, bool shared);
void release(const void* lock);
/// What lies there from now on is another lock.
void forget_locks(std::uintptr_t begin, std::uintptr_t end);
inline bool some_locks = false;  ///< whether there may be one to forget
/// The locks that the strand holds from here on: a branch begins with none, whatever its parent holds.
void hold(lock_set all);

/// The same set with what all atomic accesses hold while they happen: two of them do not race, and either races with a
/// plain one.
lock_set and_atomic(lock_set all);
/// Whether an access was atomic; whether it was under a lock of the program.
bool is_atomic(lock_set under) noexcept;
bool has_locks(lock_set under) noexcept;

/// Whether a lock is in both, in one of them at least not shared: two such accesses exclude one another.
bool exclude(lock_set a, lock_set b) noexcept;
/// Whether all of a is in b.
bool is_subset(lock_set a, lock_set b) noexcept;

struct locked_access {
  strand_id strand;
  site_id at;
  lock_set under;
  bool writes;
};

/// The most accesses of one cell that are remembered: more are forgotten, and a report says so.
inline constexpr std::size_t longest_list = 32;
inline std::size_t forgotten_accesses = 0;

using access_list = std::vector<locked_access>;
/// A new list, empty.
std::uint32_t new_list();
access_list& list(std::uint32_t number) noexcept;
void drop_list(std::uint32_t number) noexcept;

}}}}  // namespace fj::v0_4::detail::races
