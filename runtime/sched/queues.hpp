// The queues of ready fibers: what a worker does with the queue of its P, and the queue that all P share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/chaos.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/sched/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// The run queues of all P (run_queue.hpp).

/// Whether anything is ready on any P. Exact for what was put in before a fence that the caller made.
inline bool any_in_queues(processors& all) noexcept {
  bool found = false;
  for (unsigned i = 0; i < all.count(); ++i) found = found || !all[i].queue.empty();
  return found;
}

/// Whether more is ready on a P than what runs next there; a hint.
inline bool any_in_rings(processors& all) noexcept {
  bool found = false;
  for (unsigned i = 0; i < all.count(); ++i) found = found || all[i].queue.in_ring() != 0;
  return found;
}

/// Records in the active deque leave the P: keep(deque) says where they go, and then an empty deque becomes the active
/// one. False if there are none.
template <class Keep>
[[gnu::always_inline]] inline bool detach_records(processor& p, Keep keep) noexcept {
  deque& records = *p.active.load(std::memory_order_relaxed);
  if (scheduler_hooks::seems_empty(records)) return false;
  keep(records);
  // release: pairs with the acquire in processors.hpp: deque_of
  p.active.store(&scheduler_hooks::take_spare_deque(p), std::memory_order_release);
  return true;
}

// The ready queue: fibers that are ready and have no worker yet, jobs that no fiber has begun, and the markers of
// deques that waiting fibers left behind (fork/runnable.hpp). A job has no stack as long as it is here: its memory is
// that of the call of run, and a worker that takes it begins it on the stack that was used last.
//
// What goes on soon (forkjoin/abi/timer.hpp: precedence) goes before all others, but while others wait a P takes such
// fibers for between_cuts_ns in a row at most: then another strand has a turn (find.hpp: ready_work). That one is cut
// again if need be (dispatcher.hpp: ready_soon). A strand that was cut before its slice was over goes on with the rest
// of the slice, before the others: each cut would else cost it a round of all that are ready. When its slice is over it
// goes behind them, as always; otherwise strands that are cut often would keep out the rest.
//
// Urgent fibers that have become ready go before all of these, one after another, as far as the bounds of urgent.hpp
// allow, and otherwise last of all. So does an urgent strand that was cut before its slice was over. One whose slice is
// over, or that yielded, goes behind the others, as if it were not urgent.
//
// The other fibers and jobs go in the order in which they became ready, then the newest marker. So the worker that a
// fiber left goes on with that fiber's records, as it would have after the fork. It finishes a part of the fork tree
// before it begins another part: a tree in which each strand leaves a marker needs stacks for its depth. If the oldest
// marker came first, such a tree would need stacks for its breadth. Every 61st entry taken is the oldest marker;
// otherwise endless work that leaves markers would keep the records of other strands waiting.

/// For one runtime. Every function but `any` and `count` is called with the dispatcher's mutex held.
///
/// A waiting fiber whose deque holds records has its marker here, and no other fiber's marker is here. So a worker that
/// is about to park need not look at the deques of waiting fibers: the count tells.
class ready_queue {
 public:
  /// Of what a worker takes an entry: of what goes on soon, of strands that were cut, or of all, of what goes on soon
  /// and of urgent fibers last.
  enum class which { soon, cut, any };

  /// What a worker took: a fiber that goes on, or a job or a record for a fiber to begin with, or nothing.
  struct work {
    fiber* resumed = nullptr;
    job* brought = nullptr;
    stolen_record stolen;
    /// Nothing is left in this deque: it is the taker's, for the pool, with or without a record.
    deque* emptied = nullptr;
    bool left_more = false;                 ///< records are left in that deque
    precedence its = precedence::in_order;  ///< of the fiber

    explicit operator bool() const noexcept { return resumed || brought || stolen.record; }
  };

  /// Whether there is anything. seq_cst: a worker that parks announces itself, then reads this; push counts, then its
  /// caller reads the counts of idle P and of spinning workers.
  bool any() const noexcept { return count() != 0; }
  /// Whether a fiber waits that goes on soon; a hint.
  bool any_soon() const noexcept { return soon_.load(std::memory_order_relaxed) != 0; }
  /// Whether an urgent one waits. seq_cst: push_urgent counts, then its caller reads whether a worker spins; one that
  /// stops spinning says so, then reads this.
  bool any_urgent() const noexcept { return urgent_.load(std::memory_order_seq_cst) != 0; }
  // seq_cst: see any
  std::size_t count() const noexcept { return count_.load(std::memory_order_seq_cst); }

  /// `seed`: of options::chaos.
  explicit ready_queue(std::uint64_t seed = 0) noexcept : chaos_(seed, 0) {}

  static bool any_of(const job& whose) noexcept { return !whose.ready.empty(); }

  /// Moves the first fibers to the queue of a P: up to that many, as far as there is room, and up to the first job.
  /// Source: globrunqget in Go's runtime/proc.go.
  template <class Queue>
  void move(std::size_t count, Queue& to) noexcept {
    for (count = std::min<std::size_t>(count, tuning::batch_size - 1); count > 0 && first_is_fiber(); --count) {
      fiber& first = static_cast<fiber&>(*all_.strands().first());
      remove(first, *first.whose);
      if (!to.put(first)) return push(first);
      ++taken_;
    }
  }

  /// Moves all fibers from the queue of a P to here.
  template <class Queue>
  void move_here(Queue& from) noexcept {
    if (fiber* const next = from.take_next()) push(*next);
    for (auto half = from.take_half(); !half.entries().empty(); half = from.take_half())
      for (fiber* const f : half.entries()) push(*f);
  }

  /// Behind the others, unless the fiber was cut and goes on with the rest of its slice.
  void push(fiber& f) noexcept {
    if (f.had != 0 && f.urgent) return push_urgent(f);
    f.its = precedence::in_order;
    if (f.had == 0) return push(f, *f.whose);
    const os::unseen_by_detector of_its_job;  // see remove
    all_.push_front(f);
    f.whose->ready.push_front(f);
    count_one();
  }
  void push_soon(fiber& f) noexcept { push_soon(f, *f.whose); }
  void push_soon(job& r) noexcept { push_soon(r, r); }
  /// Behind the other urgent ones.
  void push_urgent(fiber& f) noexcept {
    f.its = precedence::urgent;
    urgent_.fetch_add(1, std::memory_order_seq_cst);  // see any_urgent
    push(f, *f.whose);
  }
  void push(job& r) noexcept {
    r.its = precedence::in_order;
    push(r, r);
  }

  /// For a fiber that waits and left records in its deque, before its P drops that deque: so a worker about to park
  /// finds it in one place or the other.
  void push_marker(fiber& f) noexcept { push(f.marker, *f.whose); }

  /// The fiber goes on and has its deque back, nullptr if that was emptied meanwhile.
  deque* take_back_records(fiber& f) noexcept {
    deque* const records = f.records;
    if (records) remove(f.marker, *f.whose);
    f.records = nullptr;
    return records;
  }

  /// From those of all P, for a caller, which finds what is of its job here.
  template <class Processors>
  void move_all_here(Processors& all) noexcept {
    os::fence();  // the P that is idle, then the queues: pairs with the fence in dispatcher.hpp: announce
    for (unsigned i = 0; i < all.count(); ++i) move_here(all[i].queue);
  }

  /// An entry, of that job alone unless nullptr. `has_stack`: the worker can begin a stolen record; else it takes
  /// fibers and jobs only.
  work take(which of, job* only, bool has_stack) noexcept {
    return only ? take_from(only->ready, of, has_stack) : take_from(all_, of, has_stack);
  }

  /// The first urgent fiber, or nullptr.
  fiber* take_urgent() noexcept {
    runnable* const first = all_.urgent().first();
    return first ? take_strand(*first).resumed : nullptr;
  }

 private:
  template <class Runnables>
  work take_from(const Runnables& those, which of, bool has_stack) noexcept {
    if (of == which::any) {
      const work got = take_other(those, has_stack);
      if (got || got.emptied) return got;
    }
    runnable* first = of == which::cut ? those.strands().first() : those.soon().first();
    if (!first && of == which::any) first = those.urgent().first();
    return first && (of != which::cut || was_cut(*first)) ? take_strand(*first) : work{};
  }

  template <class Runnables>
  work take_other(const Runnables& those, bool has_stack) noexcept {
    using list = typename Runnables::list;
    const bool due = ++taken_ >= tuning::takes_per_oldest;
    if (due && has_stack) taken_ = 0;
    if (has_stack && (due || against_order())) {
      const work got = take_record_of(those.markers().first(), &list::after);
      if (got || got.emptied) return got;
    }
    if (runnable* const next = against_order() ? those.strands().last() : those.strands().first())
      return take_strand(*next);
    return has_stack ? take_record_of(those.markers().last(), &list::before) : work{};
  }

  static bool was_cut(const runnable& strand) noexcept {
    return strand.is == runnable::kind::fiber && static_cast<const fiber&>(strand).had != 0;
  }

  work take_strand(runnable& next) noexcept {
    work got;
    got.its = next.its;
    if (next.is == runnable::kind::job) {
      got.brought = static_cast<job*>(&next);
      remove(next, *got.brought);
    } else {
      got.resumed = static_cast<fiber*>(&next);
      remove(next, *got.resumed->whose);
    }
    return got;
  }

  bool first_is_fiber() const noexcept {
    const runnable* const first = all_.strands().first();
    return first && first->is == runnable::kind::fiber;
  }

  bool against_order() noexcept { return chaos_.once_in(tuning::takes_per_chaotic_one); }

  // By that marker, or by the next one of whose deque there is something to take.
  template <class Next>
  work take_record_of(runnable* marker, Next next) noexcept {
    while (marker) {
      runnable& at = *marker;
      marker = next(at);
      const work got = take_record(fiber::of_marker(at));
      if (got || got.emptied) return got;
    }
    return {};
  }

  // The oldest record in the deque of a waiting fiber; the marker stays while there are more. The fiber cannot go on
  // meanwhile: it would need the mutex. A thief that still looks at the deque as its P's may take a record first.
  work take_record(fiber& f) noexcept {
    deque& d = *f.records;
    work got;
    do {
      got.stolen = d.for_thieves().steal(nullptr);
    } while (!got.stolen.record && d.has_public());
    // What found no room in the array when the fiber left.
    if (!d.has_public() && !scheduler_hooks::seems_empty(d)) d.share_all(nullptr);
    if (scheduler_hooks::seems_empty(d)) {
      remove(f.marker, *f.whose);
      f.records = nullptr;
      got.emptied = &d;
    } else {
      got.left_more = true;
    }
    return got;
  }

  void push(runnable& item, job& whose) noexcept {
    const os::unseen_by_detector of_its_job;  // see remove
    all_.push(item);
    whose.ready.push(item);
    count_one();
  }

  void push_soon(runnable& item, job& whose) noexcept {
    item.its = precedence::soon;
    soon_.fetch_add(1, std::memory_order_relaxed);
    push(item, whose);
  }

  void count_one() noexcept { count_.fetch_add(1, std::memory_order_seq_cst); }  // see any

  void remove(runnable& item, job& whose) noexcept {
    // The job ends on the stack of its strand, after that has been here, by no order that the detector sees.
    const os::unseen_by_detector of_its_job;
    all_.remove(item);
    whose.ready.remove(item);
    if (item.its == precedence::soon) soon_.fetch_sub(1, std::memory_order_relaxed);
    if (item.its == precedence::urgent) urgent_.fetch_sub(1, std::memory_order_relaxed);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }

  all_runnables all_;
  unsigned taken_ = 0;  // since the oldest marker's turn
  chaos chaos_;
  os::atomic<std::size_t> count_{0};
  os::atomic<std::size_t> soon_{0}, urgent_{0};  // of these
};

}}}  // namespace fj::v0_4::detail
