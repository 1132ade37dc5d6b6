// The continuations of a running strand, oldest at the head.
//
// A split deque: [top, public_end) is public and works like a Chase-Lev deque with public_end in the role of its
// bottom; [split, bottom) is the owner's alone, pushed and popped without a fence. split and public_end differ only
// while somebody moves them. Sources: Chase and Lev, "Dynamic circular work-stealing deque" (SPAA 2005); its orders from
// Le, Pop, Cohen and Zappa Nardelli, "Correct and efficient work-stealing for weak memory models" (PPoPP 2013); the
// split from Dinan et al., "Scalable work stealing" (SC 2009), and van Dijk and van de Pol, "Lace" (2014).
//
// Invariants:
//  - A record's index is the depth of its fork in its strand. A strand leaves bottom as it found it; the frame of the
//    fork keeps the index, so that a pop need not wait for the load of what the push before it stored.
//  - A record taken by a thief is the oldest. So when a pop finds its record gone, all older ones are gone too, the deque
//    is empty, and it rests at that depth; also when the strand goes on with another deque after a join.
//  - Only the owner writes bottom and the slots. split and public_end are written by whoever holds the mutex: the owner,
//    or a thief that exposes private records.
//  - top is an index with a tag above it. The index goes up with each steal; whenever it could be taken for an older one
//    (the owner took the last public record, or the deque came to rest elsewhere) the tag goes up. So top as a whole
//    never repeats, and a thief's claim fails if anything happened since it looked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/check.hpp"
#include "runtime/os/machine.hpp"

namespace fj::detail {

struct continuation;
struct root;

template <class Machine>
class basic_deque {
 public:
  template <class T>
  using atomic = typename Machine::template atomic<T>;
  using slot = atomic<continuation*>;
  using index = std::uint64_t;

  /// How many records a deque can hold at most.
  static constexpr index max_capacity = (index{1} << 28) - 2;

  /// A deque of `capacity` records. That many slots and one more must follow it in memory. `eager`: everything is public
  /// at once and every push and pop goes through its slow path, for systems without the heavy fence.
  constexpr basic_deque(index capacity, bool eager) noexcept
      : bottom_(0),
        push_limit_(0),
        split_(eager ? never_private : 0),
        capacity_(capacity),
        eager_(eager),
        top_(0),
        public_end_(0),
        root_(nullptr) {}

  basic_deque(const basic_deque&) = delete;
  basic_deque& operator=(const basic_deque&) = delete;

  /// What os::publish and observe name the deque by: nothing that pushes and pops release, or they would order more.
  const void* identity() const noexcept { return &capacity_; }

  // The owner's fast path. runtime/os/fork_path.hpp has it in assembly.

  /// Adds a record at the tail and says where. True if the owner must attend to something: then it calls attend and what
  /// follows from it. The record is stored before the limit is read; the other way round a wake-up would be lost.
  [[nodiscard]] bool push(continuation* record, index& at) noexcept {
    at = bottom_.load(std::memory_order_relaxed);
    slots()[at].store(record, std::memory_order_relaxed);
    // release: whoever reads bottom (expose_end, looks_empty) sees the slot
    bottom_.store(at + 1, std::memory_order_release);
    Machine::light_fence();  // store bottom, load push_limit: pairs with the heavy fence of a worker about to park
    return at + 1 >= push_limit_.load(std::memory_order_relaxed);
  }

  /// Takes back the record that was pushed there, the newest. False if it may not be private: then pop_slow decides.
  [[nodiscard]] bool pop(index at) noexcept {
    bottom_.store(at, std::memory_order_release);  // release: only because every store to bottom must be
    Machine::light_fence();  // store bottom, load split: pairs with the heavy fence between expose_begin and expose_end
    return at >= split_.load(std::memory_order_relaxed);
  }

  // The owner's slow path.

  /// Re-arms the limit, so that wishes from now on are noticed again, then fences: what others wished before is visible
  /// after it. Only then may the owner read wishes and hunger, or a wish is lost.
  void attend() noexcept {
    // acquire: pairs with the release in alarm
    push_limit_.exchange(eager_ ? 0 : capacity_, std::memory_order_acq_rel);
    Machine::fence();  // push's store to bottom, then reading hunger: pairs with the fence of a worker about to park
  }

  /// The depth of the strand: how many of its forks have not joined.
  index depth() const noexcept { return bottom_.load(std::memory_order_relaxed); }

  /// True when a further push would not fit.
  bool full() const noexcept { return depth() > capacity_; }

  /// Whether no push fits, so that every fork runs as a plain call, and the deque is empty at all times.
  bool is_roomless() const noexcept { return capacity_ == 0; }

  /// Makes the older half of the private records public, at least one. Nothing if a thief is doing so right now.
  bool publish() noexcept {
    const index bottom = depth();
    if (eager_) {
      // release: a thief that reads public_end sees the slots
      public_end_.store(bottom, std::memory_order_release);
      return true;
    }
    if (!mutex_.try_lock()) return false;
    const index end = public_end_.load(std::memory_order_relaxed);
    const bool some = bottom > end;
    if (some) {
      const index middle = end + (bottom - end + 1) / 2;
      split_.store(middle, std::memory_order_relaxed);
      public_end_.store(middle, std::memory_order_release);  // release: a thief that reads public_end sees the slots
    }
    mutex_.unlock();
    return some;
  }

  /// Completes a pop: true if the owner has its record back, false if a thief has it. Waits for a thief that exposes
  /// records, otherwise for nobody.
  [[nodiscard]] bool pop_slow(index at) noexcept {
    if (eager_) return take_public(at);
    std::scoped_lock guard(mutex_);
    // Private after all: an exposing thief had raised split above it.
    if (at >= public_end_.load(std::memory_order_relaxed)) return true;
    return take_public(at);
  }

  /// Whether the newest record, popped but not completely, is public.
  bool is_public(index at) const noexcept { return at < public_end_.load(std::memory_order_relaxed); }

  /// Undoes a pop that has not been completed: the record is the deque's again.
  void push_back() noexcept { bottom_.store(depth() + 1, std::memory_order_release); }  // release: as all of them

  /// Starts anew with a strand of that depth, which works for that root. Only while empty. The first push will attend.
  void open(root* whose, index depth) noexcept {
    std::scoped_lock guard(mutex_);
    FORKJOIN_CHECK(looks_empty());
    root_.store(whose, std::memory_order_relaxed);  // ordered by the tag: see steal
    rest(depth);
    push_limit_.exchange(0, std::memory_order_acq_rel);  // as in alarm
  }

  /// Forgets what was pushed, and has the pop find it stolen; for the deque that stands for "outside of any runtime".
  void forget() noexcept {
    bottom_.store(0, std::memory_order_relaxed);
    split_.store(never_private, std::memory_order_relaxed);
  }

  // Everybody's.

  /// Asks the owner to attend at its next push. The caller sets what it wishes first; the owner reads wishes after it
  /// re-armed the limit.
  void alarm() noexcept {
    // release: pairs with the acquire in attend. An exchange, as all stores to the limit, so that they are in one order.
    push_limit_.exchange(0, std::memory_order_acq_rel);
  }

  /// Whether an alarm waits for the owner already; a hint.
  bool alarmed() const noexcept { return push_limit_.load(std::memory_order_relaxed) == 0; }

  /// What a thief gets: a record, or nullptr; whose it is; where it was pushed.
  struct loot {
    continuation* record = nullptr;
    root* job = nullptr;
    index at = 0;
  };

  /// The oldest public record; none if there is none or another thief was faster. Of root `only` alone, unless that is
  /// nullptr.
  loot steal(const root* only) noexcept {
    // acquire: pairs with the release in rest, so that end, root and slot are no older than this top
    std::uint64_t top = top_.load(std::memory_order_acquire);
    Machine::fence();  // load top, then public_end: pairs with the fence in take_public
    // acquire: pairs with the releases in publish and expose_end, so that the slot is there
    const index end = public_end_.load(std::memory_order_acquire);
    loot found{nullptr, nullptr, index_of(top)};
    if (found.at >= end) return {};
    found.job = root_.load(std::memory_order_relaxed);
    if (only && found.job != only) return {};
    found.record = slots()[found.at].load(std::memory_order_relaxed);
    // seq_cst: in one order with the fences, as in Chase-Lev. It succeeds only if nothing has happened since top was
    // read, and then root and slot are right too.
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) return {};
    return found;
  }

  /// Whether there are public records; a hint.
  bool has_public() const noexcept {
    return index_of(top_.load(std::memory_order_relaxed)) < public_end_.load(std::memory_order_relaxed);
  }

  /// Whether there is nothing in it, private records included. Exact for pushes before a fence that the caller made.
  bool looks_empty() const noexcept {
    // acquire: pairs with the release in rest, so that bottom is no older than top
    const std::uint64_t top = top_.load(std::memory_order_acquire);
    return bottom_.load(std::memory_order_acquire) <= index_of(top);
  }

  /// Whose records it holds; a hint, save for the owner.
  root* whose() const noexcept { return root_.load(std::memory_order_relaxed); }

  /// First half of a forced publication, by a thief: forbids the owner the older half of its private records. False if
  /// there are none or somebody is at it already; otherwise a heavy fence and expose_end must follow.
  [[nodiscard]] bool expose_begin() noexcept {
    if (eager_ || !mutex_.try_lock()) return false;
    const index end = public_end_.load(std::memory_order_relaxed);
    index bottom = bottom_.load(std::memory_order_acquire);  // acquire: pairs with the releases in push and pop
    // The one record beyond the capacity goes back to the owner at once (full): if it could be stolen before that, the
    // strand would be one deeper than there are slots.
    if (bottom > capacity_) bottom = capacity_;
    if (bottom <= end) {
      mutex_.unlock();
      return false;
    }
    split_.store(end + (bottom - end + 1) / 2, std::memory_order_relaxed);  // ordered by the heavy fence
    return true;
  }

  /// Second half: makes public what the owner has not taken meanwhile. True if that is anything.
  bool expose_end() noexcept {
    const index end = public_end_.load(std::memory_order_relaxed);
    const index raised = split_.load(std::memory_order_relaxed);
    // acquire: pairs with the release in push, so that the slots are there. A pop that stored bottom before the heavy
    // fence is seen here; one after it sees the raised split and waits in pop_slow.
    const index bottom = bottom_.load(std::memory_order_acquire);
    const index reached = bottom < raised ? bottom : raised;
    const bool some = reached > end;
    // release: a thief that reads public_end sees the slots, by way of the acquire above
    if (some) public_end_.store(reached, std::memory_order_release);
    split_.store(some ? reached : end, std::memory_order_relaxed);
    mutex_.unlock();
    return some;
  }

 private:
  // 28 bits of index, 36 of tag. A thief would have to sleep through 2^36 changes of tag, some half an hour, and wake
  // exactly on its own.
  static constexpr unsigned index_bits = 28;
  static constexpr std::uint64_t one_tag = std::uint64_t{1} << index_bits;
  static constexpr index unreachable = one_tag - 1;
  static constexpr index never_private = ~index{0};

  static constexpr index index_of(std::uint64_t top) noexcept { return top & unreachable; }
  static constexpr std::uint64_t next_tag(std::uint64_t top) noexcept { return (top | unreachable) + 1; }

  slot* slots() noexcept { return reinterpret_cast<slot*>(this + 1); }

  // Chase-Lev's pop on the public part, with a new tag in place of Chase-Lev's increment when it takes the last record.
  bool take_public(index at) noexcept {
    if (!eager_) split_.store(at, std::memory_order_relaxed);
    public_end_.store(at, std::memory_order_release);  // release: as all of them
    Machine::fence();                                  // store public_end, then load top: pairs with the fence in steal
    std::uint64_t top = top_.load(std::memory_order_relaxed);
    if (index_of(top) < at) return true;
    // The last one: whoever changes top first has it. seq_cst: as in steal.
    if (index_of(top) == at &&
        top_.compare_exchange_strong(top, next_tag(top) | at, std::memory_order_seq_cst, std::memory_order_relaxed))
      return true;
    rest(at);
    return false;
  }

  // An empty deque rests where its strand's next record will be.
  void rest(index at) noexcept {
    const std::uint64_t before = top_.load(std::memory_order_relaxed);
    bottom_.store(at, std::memory_order_release);  // release: as all of them
    if (!eager_) split_.store(at, std::memory_order_relaxed);
    // First a top that is beyond every end, then the end, then the top: a thief that finds the new end finds its claim
    // on the old top fail (release: the end comes after the first top), and one that finds the new top finds no older
    // end (release: pairs with the acquire in steal).
    top_.store(next_tag(before) | unreachable, std::memory_order_relaxed);
    public_end_.store(at, std::memory_order_release);
    top_.store(next_tag(next_tag(before)) | at, std::memory_order_release);
  }

  // What os/fork_path.hpp relies on.
  static consteval bool laid_out_for_assembly() {
    return offsetof(basic_deque, bottom_) == 0 && offsetof(basic_deque, push_limit_) == 8 &&
           offsetof(basic_deque, split_) == 16 && sizeof(basic_deque) == 128;
  }
  friend struct layout_check;

  // Written by the owner at every fork, except that thieves sound the alarm and raise split.
  alignas(cache_line) atomic<index> bottom_;
  atomic<index> push_limit_;
  atomic<index> split_;
  const index capacity_;
  const bool eager_;

  // Where thieves look.
  alignas(cache_line) atomic<std::uint64_t> top_;
  atomic<index> public_end_;
  atomic<root*> root_;
  typename Machine::mutex mutex_;
};

using deque = basic_deque<machine>;

struct layout_check {
  static_assert(deque::laid_out_for_assembly());
};

}  // namespace fj::detail
