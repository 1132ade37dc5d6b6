// How private records become public: the older half of the list moves to the array that thieves steal from.
#pragma once

#include <atomic>
#include <cstdint>

#include "deque_thief.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct publication {
  /// Moves the older half of the private records from `newest` on, or all, to the array, as far as there is room, and marks
  /// them. True if there were any. With the mutex, unless eager.
  template <class Machine>
  static bool move(basic_deque_thief<Machine>& d, record_name newest, bool all) noexcept {
    // Otherwise none is private, and the owner may be about to take back a public one, whose link this is.
    if (newest == 0 || newest & d.public_mark || d.is_marked(*d.pushed_as(newest))) return false;
    const std::uint64_t room = d.public_.make_room();
    if (room == 0) return false;
    const auto older = [&d](record_name name) { return d.pushed_as(name)->older.load(std::memory_order_relaxed); };
    const record_name last = d.newest_public_.load(std::memory_order_relaxed);
    std::uint64_t count = 0;
    for (record_name name = newest; name != last; name = older(name)) ++count;
    std::uint64_t kept = d.eager_ || all ? 0 : count / 2;
    if (count - kept > room) kept = count - room;
    count -= kept;
    for (; kept > 0; --kept) newest = older(newest);
    record_name name = newest;
    for (std::uint64_t at = count; at > 0;) {
      d.public_.put(--at, *d.meant_by(name));
      auto& r = *d.pushed_as(name);
      name = older(name);
      r.older.store(name | d.public_mark, std::memory_order_relaxed);  // ordered by the guard
    }
    d.public_.extend(count);
    d.newest_public_.store(newest, std::memory_order_release);  // release: pairs with the acquire in looks_empty
    return true;
  }
};

}}}  // namespace fj::v0_2::detail
