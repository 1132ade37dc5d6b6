// The continuations of a running strand, oldest at the head, as their owner sees them. Only the owner pushes, pops,
// shares.
//
// A split deque. The newest records are private: a list through the frames that forked, from the newest to older ones,
// without a fence for push and pop. The oldest ones are public: an array that thieves steal from (public_array.hpp). To
// share is to move the older half of the list to the array. Other workers have a deque_thief, which cannot do any of
// that. Sources: the split from Dinan et al., "Scalable work stealing" (SC 2009), and van Dijk and van de Pol, "Lace"
// (2014); a list through frames from Frigo, Leiserson and Randall, "The implementation of the Cilk-5 multithreaded
// language" (PLDI 1998).
//
// Invariants:
//  - A strand leaves `newest` as it found it. Each record keeps the value from before its push: so a pop need not wait
//    for the load of what the push before it stored.
//  - The list goes on from the oldest private record to the newest public one: newest_public ends it. Records that are
//    public, or were, bear a mark in their link.
//  - A thief takes the oldest record. So when a pop finds its record gone, all older ones are gone too, and the deque
//    is at rest: empty, and in its first state; also when the strand goes on with another deque after a join.
//  - Only the owner writes `newest`. The holder of the mutex writes the array and the marks: the owner, or a thief that
//    forces private records (sharing.hpp), while the guard keeps the owner from completing a pop.
#pragma once

#include "forkjoin/abi/check.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/fork/deque_thief.hpp"
#include "runtime/fork/sharing.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class deque_owner : protected deque_thief {
 public:
  using deque_thief::index, deque_thief::slot;
  using deque_thief::request, deque_thief::requested, deque_thief::has_private, deque_thief::has_public,
      deque_thief::looks_empty, deque_thief::progress, deque_thief::public_count, deque_thief::whose;

  // The fast path: forkjoin/abi/record.hpp.
  using deque_face::asks_nothing, deque_face::name_of, deque_face::newest, deque_face::pop, deque_face::push;

  // The slow path.

  /// Clears the request, so that later ones are noticed again, then fences: what others wished before is
  /// visible after it. Only then may the owner read wishes and hunger, or a wish is lost.
  void attend() noexcept {
    // acquire: pairs with the release in deque_thief.hpp: request
    request_.exchange(eager_ || !has_capacity() ? deque_thief::open_request : deque_thief::no_request,
                      std::memory_order_acq_rel);
    // push's store to newest, then reading hunger: pairs with the fences in sched/parking.hpp: nothing_left, and in
    // sched/dispatcher.hpp: wake.
    os::fence();
  }

  /// If not, nothing can ever be public, and every fork runs as a plain call: each push is to be taken back by `forget`
  /// at once, and the deque is empty at all times.
  using deque_thief::has_capacity;

  /// Takes the newest record off before a thief can take it. The pop to come finds it as if it were private. Of a deque
  /// without capacity.
  void forget() noexcept {
    newest_.store(0, std::memory_order_release);
  }  // release: as in push (forkjoin/abi/record.hpp)

  /// Makes the oldest of the private records public, as many as the steal rule says (base/steal_rule.hpp). Nothing if
  /// there are none, if there is no room, or if a thief is doing so right now, without `handled`. Takes the time to
  /// walk over the private records, so in the long run it is paid for by what it shares. `handled`: the exception
  /// that the owner handles, nullptr if none. Then all records become public, as a thief would not force them; but
  /// none of them if some may have been forked outside of that handler.
  bool share(void* handled = nullptr) noexcept FORKJOIN_UNANALYSED {
    if (!eager_ && !mutex_.try_lock()) {
      // The thief that holds it makes records public instead; but not those of an owner that handles an exception, and
      // not while the array names the exception of an earlier handler.
      if (!handled && !public_.handled()) return false;
      mutex_.lock();
    }
    const bool some = handled_at_forks::agree(*this, handled) &&
                      sharing::move(*this, newest_.load(std::memory_order_relaxed), handled != nullptr);
    if (!eager_) mutex_.unlock();
    return some;
  }

  /// Whether what it holds was forked in a handler. Then the owner attends at each push.
  bool is_in_handler() const noexcept { return public_.handled() != nullptr; }

  /// Completes a pop: true if the owner has its record back, false if a thief has it. Waits for no other worker but a
  /// thief that forces records.
  [[nodiscard]] bool pop_slow(const record& r) noexcept {
    if (eager_) return !is_marked(r) || take_public(r);
    const locked lock(mutex_);
    return !is_marked(r) || take_public(r);  // private after all: a thief that uses force had raised the guard
  }

  /// Whether no record has been pushed that is not popped: so it is between strands, and after a join.
  bool is_at_rest() const noexcept { return newest_.load(std::memory_order_relaxed) == 0; }

 protected:
  using deque_thief::deque_thief;

  bool take_public(const record& r) noexcept {
    if (!public_.take_newest()) {
      rest();
      return false;
    }
    const record_name older = r.older.load(std::memory_order_relaxed) & ~public_mark;
    newest_public_.store(older, std::memory_order_relaxed);
    newest_.store(older, std::memory_order_release);  // release: as in push (forkjoin/abi/record.hpp)
    return true;
  }

  // Empty, and as it was at the beginning.
  void rest() noexcept {
    newest_.store(0, std::memory_order_release);  // release: as in push (forkjoin/abi/record.hpp)
    newest_public_.store(0, std::memory_order_relaxed);
    public_.clear();
  }
};

}}}  // namespace fj::v0_4::detail
