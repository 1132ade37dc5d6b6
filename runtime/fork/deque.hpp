// The continuations of a running strand, oldest at the head.
//
// A split deque. The newest records are private: a list through the frames that forked, from the newest to older ones,
// which the owner alone pushes to and pops from, without a fence. The oldest are public: an array that works like a
// Chase-Lev deque, with public_end in the role of its bottom. To publish is to move the older half of the list to the array.
// Sources: Chase and Lev, "Dynamic circular work-stealing deque" (SPAA 2005); its orders from Le, Pop, Cohen and Zappa
// Nardelli, "Correct and efficient work-stealing for weak memory models" (PPoPP 2013); the split from Dinan et al.,
// "Scalable work stealing" (SC 2009), and van Dijk and van de Pol, "Lace" (2014); a list through frames from Frigo,
// Leiserson and Randall, "The implementation of the Cilk-5 multithreaded language" (PLDI 1998).
//
// Invariants:
//  - A strand leaves `newest` as it found it, and the record itself keeps what that was: a pop need not wait for the load
//    of what the push before it stored.
//  - The list goes on from the oldest private record to the newest public one: newest_public ends it. Records that are
//    public, or were, bear a mark in their link.
//  - A record taken by a thief is the oldest. So when a pop finds its record gone, all older ones are gone too, and the
//    deque is at rest: empty, and all as at the beginning; also when the strand goes on with another deque after a join.
//  - Only the owner writes `newest`. The array, the marks and what belongs to them are written by whoever holds the mutex:
//    the owner, or a thief that exposes private records, while the guard keeps the owner from completing a pop.
//  - top is an index with a tag above it. The index goes up with each steal; whenever it could be taken for an older one
//    (the owner took the last public record, the deque came to rest, or the array was full and begins anew) the tag goes
//    up. So top as a whole never repeats, and a thief's claim fails if anything happened since it looked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../base/cache_line.hpp"
#include "../base/check.hpp"
#include "../os/machine.hpp"
#include "../os/thread_safety.hpp"

namespace fj::inline v0_1::detail {

namespace os {
struct exception_globals;
}

/// How a record is named in the list: its address; 0 is none. Bit 0 marks the name of a stand_in. In what a record keeps,
/// the highest bit marks that record as public. (Addresses of user code have it clear.)
using record_name = std::uintptr_t;

/// What a deque holds. It lies in the frame that forked, and nothing is stored there until it is pushed.
template <class Machine>
struct basic_record {
  typename Machine::template unset_atomic<record_name> older;  ///< first: os/fork_path.hpp stores it
};

/// What is pushed for a record that lies where the owner must not look once it has been stolen.
template <class Machine>
struct basic_stand_in : basic_record<Machine> {
  basic_record<Machine>* stands_for;
};

template <class Machine>
class basic_deque {
 public:
  template <class T>
  using atomic = typename Machine::template atomic<T>;
  using record = basic_record<Machine>;
  using root = typename Machine::root;
  using stand_in = basic_stand_in<Machine>;
  using slot = atomic<record*>;
  using index = std::uint64_t;

  /// How many records a deque can hold in public at most.
  static constexpr index max_capacity = (index{1} << 28) - 2;

  /// A deque with room for `capacity` public records; that many slots must follow it in memory. `eager`: everything is
  /// public at once and every push and pop goes through its slow path, for systems without the heavy fence.
  constexpr basic_deque(index capacity, bool eager) noexcept
      : newest_(0),
        alarm_(1),
        guard_(eager ? nobody_passes : private_passes),
        newest_public_(0),
        capacity_(capacity),
        eager_(eager),
        top_(0),
        public_end_(0),
        root_(nullptr),
        handled_(nullptr),
        exceptions_(nullptr) {}

  basic_deque(const basic_deque&) = delete;
  basic_deque& operator=(const basic_deque&) = delete;

  /// What os::publish and observe name the deque by: nothing that pushes and pops release, or they would order more.
  const void* identity() const noexcept { return &capacity_; }

  static record_name name_of(const record& r) noexcept { return reinterpret_cast<record_name>(&r); }
  static record_name name_of(const stand_in& r) noexcept { return reinterpret_cast<record_name>(&r) | stands_in; }

  // The owner's fast path. runtime/os/fork_path.hpp has it in assembly.

  /// Adds a record, by its name, at the tail. True if the owner must attend to something: then it calls attend and what
  /// follows from it. The record is stored before the alarm is read; the other way round a wake-up would be lost.
  [[nodiscard]] bool push(record& r, record_name name) noexcept {
    r.older.store(newest_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    // release: whoever reads newest (expose_end, looks_empty) sees the record
    newest_.store(name, std::memory_order_release);
    Machine::light_fence();  // store newest, load alarm: pairs with the heavy fence of a worker about to park
    return alarm_.load(std::memory_order_relaxed) != 0;
  }

  /// Takes back the newest record. False if it may not be private: then pop_slow decides.
  [[nodiscard]] bool pop(const record& r) noexcept {
    // release: only because every store to newest must be
    newest_.store(r.older.load(std::memory_order_relaxed), std::memory_order_release);
    Machine::light_fence();  // store newest, load guard: pairs with the heavy fence between expose_begin and expose_end
    // acquire: pairs with the release in expose_end. Who finds the guard down again finds the mark, too: so the link is
    // read once more, after the guard.
    const record_name guard = guard_.load(std::memory_order_acquire);
    return r.older.load(std::memory_order_relaxed) < guard;
  }

  // The owner's slow path.

  /// Takes off the alarm, so that wishes from now on are noticed again, then fences: what others wished before is visible
  /// after it. Only then may the owner read wishes and hunger, or a wish is lost.
  void attend() noexcept {
    // acquire: pairs with the release in alarm
    alarm_.exchange(eager_ || !has_capacity(), std::memory_order_acq_rel);
    Machine::fence();  // push's store to newest, then reading hunger: pairs with the fence of a worker about to park
  }

  /// If not, nothing can ever be public, and every fork runs as a plain call: each push is to be taken back by `forget` at
  /// once, and the deque is empty at all times.
  bool has_capacity() const noexcept { return capacity_ != 0; }

  /// Takes the newest record off before anybody can have taken it. The pop to come cannot tell it from one that nobody has
  /// stolen. Of a deque without capacity.
  void forget() noexcept { newest_.store(0, std::memory_order_release); }  // release: as all of them

  /// Makes the older half of the private records public, at least one. Nothing if there are none, if there is no room, or
  /// if a thief is doing so right now. Takes the time to walk over the private records, so in the long run it is paid for
  /// by what it publishes. `handled`: the exception that the owner handles, nullptr if none. Then all records become
  /// public, as a thief would not expose them; but none of them if some may have been forked outside of that handler.
  bool publish(void* handled = nullptr) noexcept FORKJOIN_UNANALYSED {
    if (!eager_ && !mutex_.try_lock()) {
      if (handled_.load(std::memory_order_relaxed) == handled) return false;
      mutex_.lock();  // what handled_ says must not be left over from another handler
    }
    const bool some = agree_on(handled) && move_to_public(newest_.load(std::memory_order_relaxed), handled != nullptr);
    if (!eager_) mutex_.unlock();
    return some;
  }

  /// Makes all records public, for a strand that is about to leave the deque to others, and its thread: a thief that exposes
  /// must not look for its exceptions there. If some may have been forked in a handler and others not, thieves start them
  /// all without: what waits must not keep records to itself. True if some became public.
  bool publish_all(void* handled) noexcept {
    const locked lock(mutex_);
    if (!agree_on(handled) && !has_public()) set_handled(nullptr);
    if (is_in_handler()) alarm();
    exceptions_.store(nullptr, std::memory_order_relaxed);
    return move_to_public(newest_.load(std::memory_order_relaxed), true);
  }

  /// Where the thread that the owner runs on has its exceptions. To be said whenever a strand begins or goes on.
  void set_exceptions(os::exception_globals* of_thread) noexcept {
    exceptions_.store(of_thread, std::memory_order_relaxed);  // a thief reads it after a newest of that strand
  }

  /// While the owner puts its exceptions aside: has an exposing thief find those of `instead`, and waits for one that looks at
  /// the owner's.
  void hide_exceptions(os::exception_globals& instead) noexcept {
    const locked lock(mutex_);
    set_exceptions(&instead);
  }

  /// Whether what it holds was forked in a handler. Then the owner attends at each push.
  bool is_in_handler() const noexcept { return handled_.load(std::memory_order_relaxed) != nullptr; }

  /// Completes a pop: true if the owner has its record back, false if a thief has it. Waits for a thief that exposes
  /// records, otherwise for nobody.
  [[nodiscard]] bool pop_slow(const record& r) noexcept {
    if (eager_) return !is_marked(r) || take_public(r);
    const locked lock(mutex_);
    return !is_marked(r) || take_public(r);  // private after all: an exposing thief had raised the guard
  }

  /// Whether the newest record, popped but not completely, is public, and this the deque that it was pushed to.
  bool is_public(const record& r) const noexcept {
    return is_marked(r) && public_end_.load(std::memory_order_relaxed) > 0;
  }

  /// Undoes a pop that has not been completed: the record is the deque's again.
  void push_back(record_name name) noexcept { newest_.store(name, std::memory_order_release); }  // release: as all

  /// Whether no record has been pushed that is not popped: so it is between strands, and after a join.
  bool is_at_rest() const noexcept { return newest_.load(std::memory_order_relaxed) == 0; }

  /// Starts anew, with a strand that works for that root. Only while empty. The first push will attend.
  void open(root* whose) noexcept {
    const locked lock(mutex_);
    FORKJOIN_CHECK(looks_empty());
    root_.store(whose, std::memory_order_relaxed);  // ordered by the tag: see steal
    handled_.store(nullptr, std::memory_order_relaxed);
    rest();
    alarm();
  }

  // Everybody's.

  /// Asks the owner to attend at its next push. The caller sets what it wishes first; the owner reads wishes after it
  /// took the alarm off.
  void alarm() noexcept {
    // release: pairs with the acquire in attend. An exchange, as all stores to the alarm, so that they are in one order.
    alarm_.exchange(1, std::memory_order_acq_rel);
  }

  /// Whether an alarm waits for the owner already; a hint.
  bool alarmed() const noexcept { return alarm_.load(std::memory_order_relaxed) != 0; }

  /// What a thief gets: a record, or nullptr; whose it is; and the exception that its parent handled when it forked.
  struct stolen_record {
    basic_record<Machine>* record = nullptr;
    root* whose = nullptr;
    void* handled = nullptr;
  };

  /// The oldest public record; none if there is none or another thief was faster. Of root `only` alone, unless that is
  /// nullptr.
  stolen_record steal(const root* only) noexcept {
    // acquire: pairs with the release in clear, so that end, root and slot are no older than this top
    std::uint64_t top = top_.load(std::memory_order_acquire);
    Machine::fence();  // load top, then public_end: pairs with the fence in take_public
    // acquire: pairs with the release in move_to_public, so that the slot is there
    const index end = public_end_.load(std::memory_order_acquire);
    const index at = index_of(top);
    if (at >= end) return {};
    stolen_record found{nullptr, root_.load(std::memory_order_relaxed), handled_.load(std::memory_order_relaxed)};
    if (only && found.whose != only) return {};
    found.record = slots()[at].load(std::memory_order_relaxed);
    // seq_cst: in one order with the fences, as in Chase-Lev. It succeeds only if nothing has happened since top was
    // read, and then root, exception and slot are right too.
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) return {};
    return found;
  }

  /// How many records are public; a hint.
  index public_count() const noexcept {
    const index at = index_of(top_.load(std::memory_order_relaxed));
    const index end = public_end_.load(std::memory_order_relaxed);
    return at < end ? end - at : 0;  // the two may be of different moments
  }

  bool has_public() const noexcept { return public_count() > 0; }

  /// Whether there is something that a thief can take only if it exposes it first; a hint.
  bool has_private() const noexcept {
    return newest_.load(std::memory_order_relaxed) != newest_public_.load(std::memory_order_relaxed);
  }

  /// Whether there is nothing in it, private records included. Exact for pushes before a fence that the caller made.
  bool looks_empty() const noexcept {
    // Who sees a record as public already sees the end beyond it. acquire: pairs with the release in move_to_public
    const record_name newest_public = newest_public_.load(std::memory_order_acquire);
    // acquire: pairs with the release in push
    if (newest_.load(std::memory_order_acquire) != newest_public) return false;
    return !has_public();
  }

  /// Whose records it holds; a hint, save for the owner.
  root* whose() const noexcept { return root_.load(std::memory_order_relaxed); }

  /// First half of a forced publication, by a thief: from now on the owner completes no pop. False if there is nothing
  /// private or somebody is at it already; otherwise a heavy fence and expose_end must follow.
  [[nodiscard]] bool expose_begin() noexcept FORKJOIN_UNANALYSED {
    if (eager_ || !has_capacity() || !mutex_.try_lock()) return false;
    if (!has_private()) {
      mutex_.unlock();
      return false;
    }
    guard_.store(nobody_passes, std::memory_order_relaxed);  // ordered by the heavy fence
    return true;
  }

  struct handles_none {
    bool operator()(const os::exception_globals*) const noexcept { return false; }
  };

  /// Second half: makes public half of what the owner has not taken meanwhile. True if that is anything. `handles` says
  /// whether the thread with these exceptions handles any; it is asked only while the owner runs there. An owner that does
  /// keeps its records: some may have been forked in the handler, and some not.
  template <class Handles = handles_none>
  bool expose_end(Handles handles = {}) noexcept FORKJOIN_UNANALYSED {
    // acquire: pairs with the release in push, so that the records are there. A pop that stored newest before the heavy
    // fence is seen here; one after it sees the guard and waits in pop_slow: so no record leaves the list, and the owner
    // stays on its thread and in its handlers.
    const record_name newest = newest_.load(std::memory_order_acquire);
    const bool may_take = newest != newest_public_.load(std::memory_order_relaxed) && !is_in_handler() &&
                          !handles(exceptions_.load(std::memory_order_relaxed));
    const bool some = may_take && move_to_public(newest, false);
    guard_.store(private_passes, std::memory_order_release);  // release: pairs with the acquire in pop
    mutex_.unlock();
    return some;
  }

 private:
  // 28 bits of index, 36 of tag. A thief would have to sleep through 2^36 changes of tag, some half an hour, and wake
  // exactly on its own.
  static constexpr unsigned index_bits = 28;
  static constexpr std::uint64_t one_tag = std::uint64_t{1} << index_bits;
  static constexpr std::uint64_t index_mask = one_tag - 1;

  static constexpr record_name stands_in = 1;
  static constexpr record_name public_mark = ~(~record_name{0} >> 1);
  // What the links of those who may pass are below.
  static constexpr record_name private_passes = public_mark;
  static constexpr record_name nobody_passes = 0;

  static constexpr index index_of(std::uint64_t top) noexcept { return top & index_mask; }
  static constexpr std::uint64_t next_tag(std::uint64_t top) noexcept { return (top | index_mask) + 1; }

  slot* slots() noexcept { return reinterpret_cast<slot*>(this + 1); }

  static bool is_marked(const record& r) noexcept { return r.older.load(std::memory_order_relaxed) & public_mark; }

  static record* pushed_as(record_name name) noexcept { return reinterpret_cast<record*>(name & ~stands_in); }
  static record* meant_by(record_name name) noexcept {
    record* const pushed = pushed_as(name);
    return name & stands_in ? static_cast<stand_in*>(pushed)->stands_for : pushed;
  }

  // Whether all records were forked while the owner handled that exception. Handlers nest in forks: what the owner handles at
  // the oldest record and handles now, it handled at all between. Under the mutex.
  bool agree_on(void* handled) noexcept {
    if (handled_.load(std::memory_order_relaxed) == handled) return true;
    if (handled) {
      const record_name newest = newest_.load(std::memory_order_relaxed);
      if (newest == 0 || pushed_as(newest)->older.load(std::memory_order_relaxed) != 0) return false;
    }
    // Else all were forked after the handler, and none is public: unless this strand runs on top of another's join, and that
    // one's record is to be stolen still.
    const bool may_change = !has_public();
    if (may_change) set_handled(handled);
    return may_change;
  }

  // When nothing is public. The tag orders it, as root_: see steal.
  void set_handled(void* exception) noexcept {
    handled_.store(exception, std::memory_order_relaxed);
    clear();
  }

  // Marks the older half of the private records from `newest` on, or all, and appends them to the array.
  bool move_to_public(record_name newest, bool all) noexcept {
    // Otherwise none is private, and the owner may be about to take back a public one, whose link this is.
    if (newest == 0 || newest & public_mark || is_marked(*pushed_as(newest))) return false;
    const record_name last = newest_public_.load(std::memory_order_relaxed);
    index end = public_end_.load(std::memory_order_relaxed);
    if (end == capacity_) {
      // Only if all have been stolen, but not popped, can their slots be used again.
      if (has_public()) return false;
      clear();
      end = 0;
    }
    const auto older = [](record_name name) { return pushed_as(name)->older.load(std::memory_order_relaxed); };
    index count = 0;
    for (record_name name = newest; name != last; name = older(name)) ++count;
    index kept = eager_ || all ? 0 : count / 2;
    if (count - kept > capacity_ - end) kept = count - (capacity_ - end);
    count -= kept;
    for (; kept > 0; --kept) newest = older(newest);
    end += count;
    record_name name = newest;
    for (index at = end; count > 0; --count) {
      slots()[--at].store(meant_by(name), std::memory_order_relaxed);
      record& r = *pushed_as(name);
      name = older(name);
      r.older.store(name | public_mark, std::memory_order_relaxed);  // ordered by the guard
    }
    // release: a thief that reads public_end sees the slots, and the records, by way of the acquire in expose_end
    public_end_.store(end, std::memory_order_release);
    newest_public_.store(newest, std::memory_order_release);  // release: pairs with the acquire in looks_empty
    return true;
  }

  // Chase-Lev's pop on the public part, with a new tag in place of Chase-Lev's increment when it takes the last record.
  bool take_public(const record& r) noexcept {
    const index end = public_end_.load(std::memory_order_relaxed);
    if (end > 0) {  // else it rests already
      const index at = end - 1;
      public_end_.store(at, std::memory_order_release);  // release: as all of them
      Machine::fence();  // store public_end, then load top: pairs with the fence in steal
      std::uint64_t top = top_.load(std::memory_order_relaxed);
      // The last one: whoever changes top first has it. seq_cst: as in steal.
      if (index_of(top) < at ||
          (index_of(top) == at && top_.compare_exchange_strong(top, next_tag(top) | at, std::memory_order_seq_cst,
                                                               std::memory_order_relaxed))) {
        const record_name older = r.older.load(std::memory_order_relaxed) & ~public_mark;
        newest_public_.store(older, std::memory_order_relaxed);
        newest_.store(older, std::memory_order_release);  // release: as all of them
        return true;
      }
    }
    rest();
    return false;
  }

  // Empty, and as it was at the beginning.
  void rest() noexcept {
    newest_.store(0, std::memory_order_release);  // release: as all of them
    newest_public_.store(0, std::memory_order_relaxed);
    clear();
  }

  // Has the array begin anew, when nothing is public. First the end: a thief that finds the new top finds no older one
  // (release: pairs with the acquire in steal). A claim on the old top fails from then on.
  void clear() noexcept {
    public_end_.store(0, std::memory_order_release);  // release: as all of them
    top_.store(next_tag(top_.load(std::memory_order_relaxed)), std::memory_order_release);
  }

  // What os/fork_path.hpp relies on.
  static consteval bool laid_out_for_assembly() {
    return offsetof(basic_deque, newest_) == 0 && offsetof(basic_deque, alarm_) == 8 &&
           offsetof(basic_deque, guard_) == 16 && sizeof(record) == 8;
  }
  friend struct layout_check;

  // Written by the owner at every fork, except that thieves sound the alarm and raise the guard.
  alignas(cache_line) atomic<record_name> newest_;
  atomic<std::uint64_t> alarm_;
  atomic<record_name> guard_;
  atomic<record_name> newest_public_;
  const index capacity_;
  const bool eager_;

  // Where thieves look.
  alignas(cache_line) atomic<std::uint64_t> top_;
  atomic<index> public_end_;
  atomic<root*> root_;
  atomic<void*> handled_;  // the exception that the owner handled at all forks; nullptr: none, or unknown
  atomic<os::exception_globals*> exceptions_;  // of the thread that the owner runs on
  typename Machine::mutex mutex_;
};

using deque = basic_deque<machine>;
using record = basic_record<machine>;
using record_stand_in = basic_stand_in<machine>;

struct layout_check {
  static_assert(deque::laid_out_for_assembly());
};

}  // namespace fj::inline v0_1::detail
