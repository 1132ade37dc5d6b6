// The timers of one P, and which of them is due first.
//
// A strand that waits with a deadline has a timer in its frame and arms it at the P that it runs on. Any worker may
// fire timers that are due; the worker of the P does so before it looks for other work. Several events may end the wait
// (forkjoin/abi/waiter.hpp). So a timer claims the wait, and does nothing if another event has claimed it. The frame
// may end as soon as its wait has ended. So a timer leaves the heap and claims the wait under the heap's mutex. The
// waiter takes its timer out under the same mutex, unless the timer has woken it. Source: Go's runtime/time.go: a 4-ary
// heap for each P, in an array with the times beside the pointers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/check.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/timer.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A time that does not come either, but before `never`: of a worker that must sleep where an event ends its sleep.
inline constexpr std::int64_t any_time = never - 1;

class alignas(cache_line) timer_heap {
 public:
  /// When the first timer is due; `never` if there is none. seq_cst: 2 and 4 in timekeeper.hpp, 3 in monitor_word.hpp.
  std::int64_t earliest() const noexcept { return earliest_.load(std::memory_order_seq_cst); }

  /// The same for a worker's look at its own P: one plain load.
  bool is_empty_now() const noexcept { return earliest_.load(std::memory_order_relaxed) == never; }

  /// Makes room for one more timer, which the strand arms before it leaves its worker. Only strands of the P's worker
  /// arm timers here, so the room stays. Throws std::bad_alloc.
  void make_room() FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (entries_.size() == entries_.capacity()) entries_.reserve(entries_.empty() ? 8 : 2 * entries_.size());
  }

  /// There is room. True if the timer is the first of all here.
  bool arm(timer& t) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    FORKJOIN_CHECK(entries_.size() < entries_.capacity());
    entries_.emplace_back();
    move_up(entries_.size() - 1, {t.at, &t});
    if (entries_.front().of != &t) return false;
    note_earliest();
    return true;
  }

  /// By the waiter after its wait, unless the timer has woken it. Nothing refers to the timer afterwards.
  void disarm(timer& t) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (t.place != timer::not_armed) remove(t);
  }

  /// Calls visit(timer) for those that are armed. While other threads are stopped, perhaps in here: then it does
  /// nothing, and returns false.
  template <class Visit>
  [[nodiscard]] bool try_for_each(Visit visit) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (!mutex_.try_lock()) return false;
    for (const entry& e : entries_) visit(*e.of);
    mutex_.unlock();
    return true;
  }

  /// Ends the waits whose timers are due at the time `now`, the earliest first. True if there were such timers.
  bool fire_due(std::int64_t now) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (earliest_.load(std::memory_order_relaxed) > now) return false;
    timer* first = nullptr;
    timer** end = &first;
    {
      const locked lock(mutex_);
      while (!entries_.empty() && entries_.front().at <= now) {
        timer& t = *entries_.front().of;
        remove(t);
        if (!t.claim_wait()) continue;  // its waiter may be gone as soon as the mutex is free
        *end = &t;
        end = &t.next;
      }
    }
    const bool any = first;
    while (first) std::exchange(first, first->next)->wake(precedence::soon);
    return any;
  }

 private:
  struct entry {
    std::int64_t at = 0;
    timer* of = nullptr;
  };

  static constexpr std::size_t arity = 4;

  void remove(timer& t) noexcept FORKJOIN_REQUIRES(mutex_) {
    const std::size_t hole = std::exchange(t.place, timer::not_armed);
    const entry last = entries_.back();
    entries_.pop_back();
    if (hole < entries_.size()) {
      if (hole > 0 && last.at < entries_[(hole - 1) / arity].at) {
        move_up(hole, last);
      } else {
        move_down(hole, last);
      }
    }
    if (hole == 0) note_earliest();
  }

  // Each puts `e` at `hole`, or on the way from there.

  void move_up(std::size_t hole, entry e) noexcept FORKJOIN_REQUIRES(mutex_) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / arity;
      if (entries_[parent].at <= e.at) break;
      put(hole, entries_[parent]);
      hole = parent;
    }
    put(hole, e);
  }

  void move_down(std::size_t hole, entry e) noexcept FORKJOIN_REQUIRES(mutex_) {
    for (;;) {
      const std::size_t begin = hole * arity + 1;
      const std::size_t end = begin + arity < entries_.size() ? begin + arity : entries_.size();
      if (begin >= end) break;
      std::size_t least = begin;
      for (std::size_t i = begin + 1; i < end; ++i)
        if (entries_[i].at < entries_[least].at) least = i;
      if (e.at <= entries_[least].at) break;
      put(hole, entries_[least]);
      hole = least;
    }
    put(hole, e);
  }

  void put(std::size_t place, entry e) noexcept FORKJOIN_REQUIRES(mutex_) {
    entries_[place] = e;
    e.of->place = place;
  }

  // seq_cst: a in timekeeper.hpp and in monitor_word.hpp; pairs with earliest
  void note_earliest() noexcept FORKJOIN_REQUIRES(mutex_) {
    earliest_.store(entries_.empty() ? never : entries_.front().at, std::memory_order_seq_cst);
  }

  os::mutex mutex_;
  os::atomic<std::int64_t> earliest_{never};
  std::vector<entry> entries_ FORKJOIN_GUARDED_BY(mutex_);
};

}}}  // namespace fj::v0_4::detail
