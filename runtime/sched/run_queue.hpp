// The fibers that are ready to run on one P: the one that runs next, and a ring of those that follow.
//
// The worker that holds the P is the owner: only the owner puts fibers in. The owner takes them out one after another,
// first in, first out. A thief takes half of the ring at once, and the fiber that runs next if the owner does not get
// to it.
//
//   head_ <= tail_ <= head_ + capacity    both only grow, and wrap around; slot i holds entry number i modulo capacity
//   next_                                 only the owner sets it to a fiber, any worker sets it to nullptr
//
// ThreadSanitizer takes the strands of an owner for threads, which nothing orders. One strand may have made an entry,
// and another one put it, or a later entry, into the ring. So a thief comes after the making of each entry:
// happens_before in stacks/stack_pool.cpp.
//
// Each taker reads the slots first and claims them by a CAS on the head afterwards. An owner that stores to a slot has
// seen the head beyond the entry before it, so the claim of a thief that read such a slot fails.
//
// Source: runqput, runqget and runqgrab in Go's runtime/proc.go.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/check.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A template for its tests, whose entries are no fibers.
template <class Entry, std::uint32_t Capacity = tuning::ring_size>
class run_queue {
  static_assert(Capacity >= 2 && (Capacity & (Capacity - 1)) == 0, "numbers of entries wrap around");

 public:
  static constexpr std::uint32_t capacity = Capacity;

  /// What one take_half returns, at most.
  class batch {
   public:
    std::span<Entry* const> entries() const& noexcept { return std::span(all_).first(count_); }
    void entries() const&& = delete;  // a loop over a temporary's would begin when the batch has ended

   private:
    friend run_queue;
    std::array<Entry*, Capacity / 2> all_;
    std::uint32_t count_ = 0;
  };

  run_queue() = default;
  run_queue(const run_queue&) = delete;
  run_queue& operator=(const run_queue&) = delete;

  // For the owner.

  /// `e` runs next. Returns the entry that was to run next before, or nullptr.
  [[nodiscard]] Entry* put_next(Entry& e) noexcept {
    // release: pairs with the acquires in take_next and next. The owner itself put what it finds here, so it need not
    // acquire.
    return next_.exchange(&e, std::memory_order_release);
  }

  /// At the end of the ring. False if that is full.
  [[nodiscard]] bool put(Entry& e) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    // acquire: pairs with the release in claim: the taker has read the slot that is used again
    if (tail - head_.load(std::memory_order_acquire) == Capacity) return false;
    slot(tail).store(&e, std::memory_order_release);   // release: pairs with the acquire in after
    tail_.store(tail + 1, std::memory_order_release);  // release: pairs with the acquire in take_half
    return true;
  }

  /// The first entry of the ring, or nullptr.
  Entry* take() noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    std::uint32_t head = head_.load(std::memory_order_relaxed);
    while (head != tail) {
      Entry* const first = slot(head).load(std::memory_order_relaxed);
      if (claim(head, 1)) return first;
    }
    return nullptr;
  }

  // For any worker.

  /// The entry that was to run next, or nullptr.
  Entry* take_next() noexcept { return take_next(next_.load(std::memory_order_relaxed)); }

  /// The same, if it is `expected`.
  Entry* take_next(Entry* expected) noexcept {
    // acquire: pairs with the release in put_next
    if (!expected ||
        !next_.compare_exchange_strong(expected, nullptr, std::memory_order_acquire, std::memory_order_relaxed))
      return nullptr;
    return expected;
  }

  /// The older half of the ring, rounded up, without the entry that runs next.
  batch take_half() noexcept {
    batch taken;
    for (;;) {
      // acquire: pairs with the release in claim, so that the tail is no older than this head
      std::uint32_t head = head_.load(std::memory_order_acquire);
      // acquire: pairs with the release in put, so that the slots and the entries are there
      const std::uint32_t held = tail_.load(std::memory_order_acquire) - head;
      const std::uint32_t half = held - held / 2;
      if (half > Capacity / 2) continue;  // head and tail are of different moments
      for (std::uint32_t i = 0; i < half; ++i) taken.all_[i] = slot(head + i).load(std::memory_order_relaxed);
      if (half != 0 && !claim(head, half)) continue;
      taken.count_ = half;
      for (const Entry* const e : taken.entries()) os::happens_after(e);
      return taken;
    }
  }

  /// The entry that runs next, or nullptr; a hint. What was written to it before it was put in is there.
  Entry* next() const noexcept {
    // acquire: pairs with the release in put_next
    return next_.load(std::memory_order_acquire);
  }

  /// The first entry of the ring, or nullptr; a hint, as next.
  Entry* first() const noexcept { return after(0); }

  /// The entry of the ring that comes after so many others, or nullptr; a hint, as next.
  Entry* after(std::uint32_t others) const noexcept {
    if (in_ring() <= others) return nullptr;
    // acquire: pairs with the release of the slot in put
    Entry* const e = slot(head_.load(std::memory_order_relaxed) + others).load(std::memory_order_acquire);
    if (e) os::happens_after(e);
    return e;
  }

  /// How many entries the ring holds; a hint, except for the owner if that is 0.
  std::uint32_t in_ring() const noexcept {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    const std::uint32_t held = tail_.load(std::memory_order_relaxed) - head;
    return held <= Capacity ? held : Capacity;
  }

  /// Whether there is nothing. Exact for what was put in before a fence that the caller made.
  bool empty() const noexcept { return !next() && in_ring() == 0; }

 private:
  using slot_type = os::atomic<Entry*>;

  slot_type& slot(std::uint32_t number) noexcept { return ring_[number % Capacity]; }
  const slot_type& slot(std::uint32_t number) const noexcept { return ring_[number % Capacity]; }

  // Takes that many entries from `head` on, if it is the head still. Else head becomes what it is.
  bool claim(std::uint32_t& head, std::uint32_t count) noexcept {
    // release: pairs with the acquires in put and take_half. What was taken has been acquired with the tail, or put by
    // the same owner.
    return head_.compare_exchange_strong(head, head + count, std::memory_order_release, std::memory_order_relaxed);
  }

  // Thieves read the head and the tail in each look, but what runs next in every fourth only.
  alignas(cache_line) os::atomic<Entry*> next_{nullptr};
  alignas(cache_line) os::atomic<std::uint32_t> head_{0};
  os::atomic<std::uint32_t> tail_{0};
  slot_type ring_[Capacity]{};
};

}}}  // namespace fj::v0_4::detail
