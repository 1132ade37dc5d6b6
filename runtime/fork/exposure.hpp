// A thief makes private records public by force, for an owner that does not push. The thief calls a heavy fence between the two
// halves.
#pragma once

#include "../os/thread_safety.hpp"
#include "deque_thief.hpp"
#include "publication.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct exposure {
  /// Raises the guard: from then on the owner completes no pop. False if nothing is private, or if another thief or the owner
  /// makes records public at this moment. Otherwise a heavy fence and `end` must follow.
  template <class Machine>
  [[nodiscard]] static bool begin(basic_deque_thief<Machine>& d) noexcept FORKJOIN_UNANALYSED {
    if (d.eager_ || !d.has_capacity() || !d.mutex_.try_lock()) return false;
    if (!d.has_private()) {
      d.mutex_.unlock();
      return false;
    }
    d.guard_.store(d.guard_up, std::memory_order_relaxed);  // ordered by the heavy fence
    return true;
  }

  struct handles_none {
    bool operator()(const os::exception_globals*) const noexcept { return false; }
  };

  /// Makes public half of what the owner has not taken meanwhile. True if that is anything. `handles` says whether the thread
  /// with these exceptions handles any; it is asked only while the owner runs there. An owner that handles one keeps its
  /// records: some may have been forked in the handler, and some not.
  template <class Machine, class Handles = handles_none>
  static bool end(basic_deque_thief<Machine>& d, Handles handles = {}) noexcept FORKJOIN_UNANALYSED {
    // acquire: pairs with the release in push, so that the records are there. A pop that stored newest before the heavy
    // fence is seen here; one after it sees the guard and waits in pop_slow: so no record leaves the list, and the owner
    // stays on its thread and in its handlers.
    const record_name newest = d.newest_.load(std::memory_order_acquire);
    const bool may_take = newest != d.newest_public_.load(std::memory_order_relaxed) && !d.public_.handled() &&
                          !handles(d.exceptions_.load(std::memory_order_relaxed));
    const bool some = may_take && publication::move(d, newest, false);
    d.guard_.store(d.guard_down, std::memory_order_release);  // release: pairs with the acquire in pop
    d.mutex_.unlock();
    return some;
  }
};

}}}  // namespace fj::v0_2::detail
