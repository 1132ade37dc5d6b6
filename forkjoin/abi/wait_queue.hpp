// The queue of strands and threads that wait for one object, first in, first out.
#pragma once

#include <cstdint>
#include <mutex>

#include "forkjoin/abi/check.hpp"
#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/waiter.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A wait in one queue. A wait for several objects has an entry in the queue of each. Lies in the frame of the function
/// that waits.
struct wait_entry {
  explicit wait_entry(waiter& waits, unsigned its_number = 0, void* its_item = nullptr) noexcept
      : of(waits), number(its_number), item(its_item) {}
  wait_entry(const wait_entry&) = delete;
  wait_entry& operator=(const wait_entry&) = delete;
  ~wait_entry() { FORKJOIN_CHECK(!queued); }

  waiter& of;
  const unsigned number;   ///< what the waiter learns if it is woken through this entry
  void* const item;        ///< what the object gives the waiter or takes from it
  bool refused = false;    ///< set by the claimant: the object has ended, and the item has not been touched
  bool queued = false;     ///< under the object's lock
  std::int64_t since = 0;  ///< of a mutex: when the wait began, by os::now_ns
  list_links<wait_entry> links;
};

/// Belongs to an object with a lock, under which every function is called.
class wait_queue {
 public:
  bool empty() const noexcept { return entries_.empty(); }
  wait_entry* first() const noexcept { return entries_.first(); }

  void push(wait_entry& e) noexcept {
    entries_.push(e);
    e.queued = true;
  }

  /// Of a waiter that has waited here before.
  void push_front(wait_entry& e) noexcept {
    entries_.push_front(e);
    e.queued = true;
  }

  /// The first entry whose wait had not ended; the caller has claimed that wait and must wake it. nullptr if there is
  /// none.
  wait_entry* claim_first() noexcept {
    while (!empty())
      if (wait_entry* const e = claim_head()) return e;
    return nullptr;
  }

  /// As claim_first, but looks at the head alone, which leaves the queue. Not while it is empty.
  wait_entry* claim_head() noexcept {
    wait_entry& e = *entries_.first();
    remove(e);
    return e.of.claim(e.number) ? &e : nullptr;
  }

  /// By the waiter, after its wait: the entry may be here still if something else ended the wait.
  void remove_if_queued(wait_entry& e) noexcept {
    if (e.queued) remove(e);
  }

 private:
  void remove(wait_entry& e) noexcept {
    entries_.remove(e);
    e.queued = false;
  }

  linked_list<wait_entry, &wait_entry::links> entries_;
};

/// Entries whose waits their holder has claimed under the object's lock, and wakes without it.
class claimed_waits {
 public:
  void add(wait_entry& e) noexcept { entries_.push(e); }

  void claim_all(wait_queue& from) noexcept {
    while (wait_entry* const e = from.claim_first()) add(*e);
  }

  void wake_all() noexcept {
    while (wait_entry* const e = entries_.first()) {
      entries_.remove(*e);
      e->of.wake();
    }
  }

 private:
  linked_list<wait_entry, &wait_entry::links> entries_;
};

/// Puts the caller into the queue of the object whose lock it holds, frees the lock and waits. `item`: as in
/// wait_entry. The wait ends as `stopped` or `timed_out` if a limit ends it before another claims it. Throws
/// std::bad_alloc.
wait_end wait_in(wait_queue& queue, std::unique_lock<os::mutex>& held, void* item, const wait_limits& limits);

}}}  // namespace fj::v0_4::detail
