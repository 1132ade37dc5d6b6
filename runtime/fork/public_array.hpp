// The public records of a deque: thieves take the oldest one, the owner takes the newest one back.
//
// Chase and Lev's deque ("Dynamic circular work-stealing deque", SPAA 2005) with the memory orders of Le, Pop, Cohen
// and Zappa Nardelli ("Correct and efficient work-stealing for weak memory models", PPoPP 2013). `end` is its bottom.
// The array neither grows nor goes round: it begins anew when it is full and all its records have been stolen.
//
// `top` is an index with a tag above it. The index goes up with each steal. The tag goes up when the owner takes the
// last record, and when the array begins anew. So the value of top never repeats, and a thief's claim fails if the
// owner or another thief changed top after the thief read it. The same protects the job and the exception: they change
// only before top changes, or while no record has come since top changed.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/cache_line.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct record;
struct job;

/// What a thief gets: a record, or nullptr; its job; and the exception that its parent handled when it forked.
struct stolen_record {
  detail::record* record = nullptr;
  job* whose = nullptr;
  void* handled = nullptr;
};

class alignas(cache_line) public_array {
 public:
  using index = std::uint64_t;
  using slot = os::atomic<record*>;

  static constexpr index max_capacity = (index{1} << 28) - 2;

  /// So many slots must follow the array in memory.
  constexpr explicit public_array(index capacity) noexcept
      : top_(0), end_(0), whose_(nullptr), handled_(nullptr), capacity_(capacity) {}

  public_array(const public_array&) = delete;
  public_array& operator=(const public_array&) = delete;

  // For any worker.

  /// The oldest record, of job `only` alone unless that is nullptr. None if there is none or another thief was faster.
  stolen_record steal(const job* only) noexcept {
    // acquire: pairs with the release in clear, so that end, job and slot are no older than this top
    std::uint64_t top = top_.load(std::memory_order_acquire);
    os::fence();  // load top, then end: pairs with the fence in take_newest
    // acquire: pairs with the release in extend, so that the slot is there
    const index end = end_.load(std::memory_order_acquire);
    const index at = index_of(top);
    if (at >= end) return {};
    stolen_record found{nullptr, whose(), handled()};
    if (only && found.whose != only) return {};
    found.record = all_slots()[at].load(std::memory_order_relaxed);
    // seq_cst: in one order with the fences and the exchange in take_newest, as in Chase-Lev. If it succeeds, job,
    // exception and slot are right, too.
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) return {};
    return found;
  }

  /// How many records there are; a hint, because top and end may be of different moments.
  index count() const noexcept {
    const index at = index_of(top_.load(std::memory_order_relaxed));
    const index end = end_.load(std::memory_order_relaxed);
    return at < end ? end - at : 0;
  }

  /// Calls visit(record) for each record, the oldest first. Only while none comes or goes.
  template <class Visit>
  void for_each(Visit visit) {
    const index end = end_.load(std::memory_order_relaxed);
    for (index i = index_of(top_.load(std::memory_order_relaxed)); i < end; ++i)
      visit(*all_slots()[i].load(std::memory_order_relaxed));
  }

  /// The job of the records; a hint, except for the owner.
  job* whose() const noexcept { return whose_.load(std::memory_order_relaxed); }
  /// The exception that the owner handled at all forks; nullptr: none, or the forks differ. A hint, except for the
  /// owner.
  void* handled() const noexcept { return handled_.load(std::memory_order_relaxed); }

  index capacity() const noexcept { return capacity_; }

  /// Whether no record has come since the array began anew.
  bool is_clear() const noexcept { return end_.load(std::memory_order_relaxed) == 0; }

  // For the owner, and for a thief that uses force. One at a time.

  /// How many records fit in.
  index make_room() noexcept {
    const index end = end_.load(std::memory_order_relaxed);
    if (end != capacity_) return capacity_ - end;
    // Slots are used again only when all records have been stolen, though not popped.
    if (count() > 0) return 0;
    clear();
    return capacity_;
  }

  /// Names the record that is to be the i-th after the newest one, beginning with 0.
  void put(index i, record& r) noexcept {
    all_slots()[end_.load(std::memory_order_relaxed) + i].store(&r, std::memory_order_relaxed);
  }

  /// Adds the records that put has named.
  void extend(index by) noexcept {
    // release: pairs with the acquire of end in steal, by which a thief finds the slots; and the records, by way of the
    // acquire in sharing.hpp: forced_sharing::end
    end_.store(end_.load(std::memory_order_relaxed) + by, std::memory_order_release);
  }

  /// Takes the newest record back. False if a thief has it.
  bool take_newest() noexcept {
    const index end = end_.load(std::memory_order_relaxed);
    if (end == 0) return false;
    const index at = end - 1;
    // release: as in extend, for the slots that are left
    end_.store(at, std::memory_order_release);
    os::fence();  // store end, then load top: pairs with the fence in steal
    std::uint64_t top = top_.load(std::memory_order_relaxed);
    if (index_of(top) != at) return index_of(top) < at;
    // The last one: the thief or the owner has it that changes top first. seq_cst: as in steal
    return top_.compare_exchange_strong(top, next_tag(top) | at, std::memory_order_seq_cst, std::memory_order_relaxed);
  }

  // The same, while count() is 0.

  /// What thieves get with the records to come. To be followed by clear, unless the array is clear.
  void belong_to(job* whose, void* handled) noexcept {
    whose_.store(whose, std::memory_order_relaxed);
    handled_.store(handled, std::memory_order_relaxed);
  }

  void clear() noexcept {
    // The end first: a thief that finds the new top finds no older end. release: pairs with the acquire of top in steal
    end_.store(0, std::memory_order_release);  // release: as in extend
    top_.store(next_tag(top_.load(std::memory_order_relaxed)), std::memory_order_release);
  }

 private:
  // 28 bits of index, 36 of tag. A thief would have to sleep through 2^36 changes of tag, some half an hour, and wake
  // exactly on its own.
  static constexpr std::uint64_t index_mask = (std::uint64_t{1} << 28) - 1;
  static constexpr index index_of(std::uint64_t top) noexcept { return top & index_mask; }
  static constexpr std::uint64_t next_tag(std::uint64_t top) noexcept { return (top | index_mask) + 1; }

  slot* all_slots() noexcept { return reinterpret_cast<slot*>(this + 1); }

  os::atomic<std::uint64_t> top_;
  os::atomic<index> end_;
  os::atomic<job*> whose_;
  os::atomic<void*> handled_;
  const index capacity_;
};

}}}  // namespace fj::v0_4::detail
