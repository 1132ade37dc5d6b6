// How private records of a deque become public: the owner shares them, or a thief forces them, for an
// owner that does not push. And the exception that the owner handled at their forks: the deque keeps one for all its
// records, or none.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/base/steal_rule.hpp"
#include "runtime/fork/deque_thief.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct handled_at_forks {
  /// Whether all records were forked while the owner handled that exception; then the deque keeps it for them. Handlers
  /// nest in forks: what the owner handles at the oldest record and handles now, it handled at all between. With the
  /// mutex.
  static bool agree(deque_thief& d, void* handled) noexcept {
    if (d.public_.handled() == handled) return true;
    if (handled) {
      const record_name newest = d.newest_.load(std::memory_order_relaxed);
      if (newest == 0 || d.pushed_as(newest)->older.load(std::memory_order_relaxed) != 0) return false;
    }
    // Else all were forked after the handler, and none is public: unless this strand runs on top of another's join, and
    // that one's record is to be stolen still.
    if (d.has_public()) return false;
    be(d, handled);
    return true;
  }

  /// The exception of all records from now on. While none is public, with the mutex.
  static void be(deque_thief& d, void* handled) noexcept {
    d.public_.belong_to(d.whose(), handled);
    d.public_.clear();
  }
};

struct sharing {
  /// Moves the oldest of the private records from `newest` on, as many as the steal rule says, or all, to the array, as
  /// far as there is room, and marks them. True if there were any. With the mutex, unless eager.
  static bool move(deque_thief& d, record_name newest, bool all) noexcept {
    // Otherwise none is private, and the owner may be about to take back a public one, whose link this is.
    if (newest == 0 || newest & d.public_mark || d.is_marked(*d.pushed_as(newest))) return false;
    const std::uint64_t room = d.public_.make_room();
    if (room == 0) return false;
    const auto older = [&d](record_name name) { return d.pushed_as(name)->older.load(std::memory_order_relaxed); };
    const record_name last = d.newest_public_.load(std::memory_order_relaxed);
    std::uint64_t count = 0;
    for (record_name name = newest; name != last; name = older(name)) ++count;
    std::uint64_t kept = d.eager_ || all ? 0 : count - steal_rule::made_public(count);
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
    // release: pairs with the acquire in deque_thief.hpp: looks_empty
    d.newest_public_.store(newest, std::memory_order_release);
    return true;
  }
};

/// By a thief, which calls a heavy fence between the two halves.
struct forced_sharing {
  /// Raises the guard: from then on the owner completes no pop. False if nothing is private, or if another thief or the
  /// owner makes records public at this moment. Otherwise a heavy fence, and `end` or `give_up`, must follow.
  [[nodiscard]] static bool begin(deque_thief& d) noexcept FORKJOIN_UNANALYSED {
    if (d.eager_ || !d.has_capacity() || !d.mutex_.try_lock()) return false;
    if (!d.has_private()) {
      d.mutex_.unlock();
      return false;
    }
    d.guard_.store(d.guard_up, std::memory_order_relaxed);  // ordered by the heavy fence in sched/find.hpp: force
    return true;
  }

  /// In place of `end`, if the fence was not passed by all: the owner may have taken a record without a sight of the
  /// guard.
  static void give_up(deque_thief& d) noexcept FORKJOIN_UNANALYSED {
    d.guard_.store(d.guard_down, std::memory_order_release);  // release: pairs with the acquire in record.hpp: pop
    d.mutex_.unlock();
  }

  struct handles_none {
    bool operator()(const os::exception_globals*) const noexcept { return false; }
  };

  /// Makes public half of what the owner has not taken meanwhile. True if that is anything. `handles` says whether the
  /// thread with these exceptions handles any; it is asked only while the owner runs there. An owner that handles one
  /// keeps its records: some may have been forked in the handler, and some not.
  template <class Handles = handles_none>
  static bool end(deque_thief& d, Handles handles = {}) noexcept FORKJOIN_UNANALYSED {
    // acquire: pairs with the release in forkjoin/abi/record.hpp: push, so that the records are there. A pop that
    // stored newest before the heavy fence is seen here; one after it sees the guard and waits in pop_slow: so no
    // record leaves the list, and the owner stays on its thread and in its handlers.
    const record_name newest = d.newest_.load(std::memory_order_acquire);
    const bool may_take = newest != d.newest_public_.load(std::memory_order_relaxed) && !d.public_.handled() &&
                          !handles(d.exceptions_.load(std::memory_order_relaxed));
    const bool some = may_take && sharing::move(d, newest, false);
    d.guard_.store(d.guard_down, std::memory_order_release);  // release: pairs with the acquire in record.hpp: pop
    d.mutex_.unlock();
    return some;
  }
};

}}}  // namespace fj::v0_4::detail
