// A deque as its worker uses it between strands: the worker makes the deque, opens it for a strand, and leaves its records to
// other workers. Also what special forks need of a deque.
#pragma once

#include <cstddef>

#include "../os/context/context.hpp"
#include "deque_owner.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <class Machine>
class basic_deque : public basic_deque_owner<Machine> {
 public:
  using as_owner = basic_deque_owner<Machine>;
  using as_thief = basic_deque_thief<Machine>;
  using typename as_owner::index, typename as_owner::record, typename as_owner::root;

  /// How many records a deque can hold in public at most.
  static constexpr index max_capacity = basic_public_array<Machine>::max_capacity;

  /// A deque with room for `capacity` public records; that many slots must follow it in memory. `eager`: everything is
  /// public at once and every push and pop goes through its slow path, for systems without the heavy fence.
  constexpr basic_deque(index capacity, bool eager) noexcept : as_owner(capacity, eager) {}

  /// What other workers get of it.
  as_thief& for_thieves() noexcept { return *this; }

  /// What os::publish and observe name the deque by: nothing that pushes and pops release, or they would order more.
  const void* identity() const noexcept { return &this->eager_; }

  /// Starts anew, with a strand that works for that root. Only while empty. The first push will attend.
  void open(root* whose) noexcept {
    FORKJOIN_CHECK(this->looks_empty());
    // As a strand that did not fork leaves it. A thief that exposes finds nothing, or a record that was pushed after this store.
    if (this->is_at_rest() && this->public_.is_clear() && this->alarmed())
      return this->public_.belong_to(whose, nullptr);
    const locked lock(this->mutex_);
    this->public_.belong_to(whose, nullptr);
    this->rest();
    this->alarm();
  }

  /// Where the thread that the owner runs on has its exceptions. To be said whenever a strand begins or goes on.
  void set_exceptions(os::exception_globals* of_thread) noexcept {
    this->exceptions_.store(of_thread, std::memory_order_relaxed);  // a thief reads it after a newest of that strand
  }

  /// While the owner puts its exceptions aside: has an exposing thief find those of `instead`, and waits for one that looks at
  /// the owner's.
  void hide_exceptions(os::exception_globals& instead) noexcept {
    const locked lock(this->mutex_);
    set_exceptions(&instead);
  }

  /// Makes all records public, for a strand that is about to leave the deque to others, and its thread: a thief that exposes
  /// must not look for its exceptions there. Unless the deque keeps the exception that the owner handles, some may have been
  /// forked before that handler, and outlive it: thieves start them all without, as what waits must not keep records to
  /// itself. True if some became public.
  bool publish_all(void* handled) noexcept {
    const locked lock(this->mutex_);
    if (this->public_.handled() != handled && !this->has_public()) handled_at_forks::be(*this, nullptr);
    if (this->is_in_handler()) this->alarm();
    set_exceptions(nullptr);
    return publication::move(*this, this->newest_.load(std::memory_order_relaxed), true);
  }

  // For forks that are not ordinary: quiet ones, and with steal_every_fork.

  /// Whether the newest record, popped but not completely, is public, and this the deque that it was pushed to.
  bool is_public(const record& r) const noexcept { return this->is_marked(r) && !this->public_.is_clear(); }

  /// Undoes a pop that has not been completed: the record is the deque's again.
  void push_back(record_name name) noexcept {
    this->newest_.store(name, std::memory_order_release);  // release: as all of them
  }

  /// Whether it is the newest, and the only private one; a hint, as a thief may expose it.
  bool is_only_private(const record& r) const noexcept {
    return r.older.load(std::memory_order_relaxed) == this->newest_public_.load(std::memory_order_relaxed);
  }

  /// After a push of `newest` that found the alarm on: whether a worker looks at this deque, so that the owner need not attend
  /// (strand/fork_slow.hpp). False if older records are private, too. Thieves would also keep off if the owner handled an exception: that
  /// is for the caller to ask, of exceptions().
  // relaxed: a thief that exposes may change these words, but then it has the record; a later push finds a later alarm.
  bool is_watched(const record& newest) const noexcept {
    return this->alarm_.load(std::memory_order_relaxed) == as_thief::alarm_watched && is_only_private(newest) &&
           !this->is_in_handler();
  }

  /// The owner's: where its thread has its exceptions.
  const os::exception_globals& exceptions() const noexcept {
    return *this->exceptions_.load(std::memory_order_relaxed);
  }

  /// Whether the owner may go on for some microseconds without a push: nobody asks for what it has.
  bool asks_nothing() const noexcept {
    const std::uint64_t alarm = this->alarm_.load(std::memory_order_relaxed);
    return alarm == as_thief::alarm_off || (alarm == as_thief::alarm_watched && !this->has_private());
  }

 private:
  // What os/fork_path.hpp relies on.
  static consteval bool laid_out_for_assembly() {
    return offsetof(basic_deque, newest_) == 0 && offsetof(basic_deque, alarm_) == 8 &&
           offsetof(basic_deque, guard_) == 16 && sizeof(record) == 8;
  }
  friend struct layout_check;
};

using deque = basic_deque<machine>;
using deque_thief = basic_deque_thief<machine>;
using record = basic_record<machine>;
using record_stand_in = basic_stand_in<machine>;

struct layout_check {
  static_assert(deque::laid_out_for_assembly());
};

}}}  // namespace fj::v0_2::detail
