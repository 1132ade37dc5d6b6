// A deque as its worker uses it between strands: the worker makes the deque, opens it for a strand, and leaves its
// records to other workers. Also what special forks need of a deque.
#pragma once

#include <cstddef>

#include "runtime/fork/deque_owner.hpp"
#include "runtime/os/context/context.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class deque : public deque_owner {
 public:
  /// How many records a deque can hold in public at most.
  static constexpr index max_capacity = public_array::max_capacity;

  /// A deque with room for `capacity` public records; that many slots must follow it in memory. `eager`: everything is
  /// public at once and every push and pop goes through its slow path, for systems without the heavy fence.
  constexpr deque(index capacity, bool eager) noexcept : deque_owner(capacity, eager) {}

  /// What other workers get of it.
  deque_thief& for_thieves() noexcept { return *this; }

  /// What os::happens_before and happens_after name the deque by: nothing that pushes and pops release, or they would
  /// order more.
  const void* identity() const noexcept { return &eager_; }

  /// Starts anew, with a strand that works for that job. Only while empty. The first push will attend.
  void open(job* whose) noexcept {
    FORKJOIN_CHECK(looks_empty());
    // As a strand that did not fork leaves it. A thief that uses force finds nothing, or a record that was pushed after
    // this store. A request that is watched will not do: the worker that looked may have found other work since.
    if (is_at_rest() && public_.is_clear() && request_.load(std::memory_order_relaxed) == open_request)
      return public_.belong_to(whose, nullptr);
    const locked lock(mutex_);
    public_.belong_to(whose, nullptr);
    rest();
    request();
  }

  /// Where the thread that the owner runs on has its exceptions. To be said whenever a strand begins or goes on.
  void set_exceptions(os::exception_globals* of_thread) noexcept {
    exceptions_.store(of_thread, std::memory_order_relaxed);  // a thief reads it after a newest of that strand
  }

  /// While the owner puts its exceptions aside: has a thief that uses force find those of `instead`, and waits for one
  /// that looks at the owner's.
  void hide_exceptions(os::exception_globals& instead) noexcept {
    const locked lock(mutex_);
    set_exceptions(&instead);
  }

  /// Makes all records public, for a strand that is about to leave the deque to others, and its thread: a thief that
  /// uses force must not look for its exceptions there. Unless the deque keeps the exception that the owner handles,
  /// some may have been forked before that handler, and outlive it: thieves start them all without, as what waits must
  /// not keep records to itself. True if some became public.
  bool share_all(void* handled) noexcept {
    const locked lock(mutex_);
    if (public_.handled() != handled && !has_public()) handled_at_forks::be(*this, nullptr);
    if (is_in_handler()) request();
    set_exceptions(nullptr);
    return sharing::move(*this, newest_.load(std::memory_order_relaxed), true);
  }

  // For forks that are not ordinary: quiet ones, and with steal_every_fork.

  /// Whether the newest record, popped but not completely, is public, and this the deque that it was pushed to.
  bool is_public(const record& r) const noexcept { return is_marked(r) && !public_.is_clear(); }

  /// Undoes a pop that has not been completed: the record is the deque's again.
  void push_back(record_name name) noexcept {
    newest_.store(name, std::memory_order_release);  // release: as in push (forkjoin/abi/record.hpp)
  }

  /// Whether it is the newest, and the only private one; a hint, as a thief may force it.
  bool is_only_private(const record& r) const noexcept {
    return r.older.load(std::memory_order_relaxed) == newest_public_.load(std::memory_order_relaxed);
  }

  /// After a push of `newest` that found a request: whether a worker looks at this deque, so that the owner need not
  /// attend (strand/fork_slow.cpp). False if older records are private, too. Thieves would also keep off if the owner
  /// handled an exception: that is for the caller to ask, of exceptions().
  // relaxed: a thief that uses force may change these words, but then it has the record; a later push finds a later
  // request.
  bool is_watched(const record& newest) const noexcept {
    return request_.load(std::memory_order_relaxed) == deque_thief::watched_request && is_only_private(newest) &&
           !is_in_handler();
  }

  /// The owner's: where its thread has its exceptions.
  const os::exception_globals& exceptions() const noexcept { return *exceptions_.load(std::memory_order_relaxed); }

#ifndef FORKJOIN_MACHINE
 private:
  friend struct face_layout;
#endif
};

}}}  // namespace fj::v0_4::detail
