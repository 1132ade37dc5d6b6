// Keeps fibers with their stacks for reuse.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/stacks/fiber.hpp"
#include "runtime/stacks/stack_cache.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class stack_pool {
 public:
  /// A frame up to this size that runs into the end of its stack meets the guard.
  static constexpr std::size_t guard_size = std::size_t{1} << 20;

  /// A free fiber keeps this much of the stack that it touched. A suspended fiber keeps this much below its stack
  /// pointer. A stack of less than four times as much keeps all.
  static constexpr std::size_t kept_bytes = std::size_t{64} << 10;

  /// Stacks of that many bytes. `numbers`: how many fibers the runtime has, in all its pools; a new fiber has the next
  /// number. `small_guard`: if it is not 0 the stacks are small. Then their guards are of so many bytes, the fiber
  /// itself takes a part of the stack's bytes, and no page above guards it.
  explicit stack_pool(std::size_t stack_size, std::atomic<unsigned>& numbers, std::size_t small_guard = 0) noexcept;
  ~stack_pool();
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  /// A free fiber, or nullptr when the system refuses memory. `whose` counts it; if nullptr, the P that first runs it
  /// does.
  fiber* take(stack_tally* whose) noexcept;

  /// Takes back a fiber whose strand has left the stack for good.
  void give(fiber* idle) noexcept;

  /// Fills half of an empty cache, as far as stacks are free, or maps one for it. The P that first runs them counts
  /// them.
  void fill(stack_cache& kept) noexcept;

  /// Takes back fibers whose stacks have been trimmed, until `but` are left there.
  void take_back(stack_cache& kept, std::size_t but) noexcept;

  std::size_t stack_size() const noexcept { return stack_size_; }
  std::size_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

  /// Calls visit(fiber) for each fiber that there is, whatever it does, from any thread.
  template <class Visit>
  void for_each(Visit visit) const {
    // acquire: pairs with the release in take
    for (const fiber* f = all_.load(std::memory_order_acquire); f; f = f->mapped_before) visit(*f);
  }

  bool is_of_same_runtime(const stack_pool& other) const noexcept { return &numbers_ == &other.numbers_; }

  /// Whether the next take maps a new stack. A hint: other threads take and give meanwhile.
  bool seems_empty() const noexcept { return in_use() == mapped_.load(std::memory_order_relaxed); }

 private:
  friend struct layout;

  static constexpr std::size_t colours = 16;
  static constexpr std::size_t colour_size = 256;

  fiber* take_one(stack_tally* whose) noexcept FORKJOIN_REQUIRES(mutex_);
  void give_one(fiber& idle) noexcept FORKJOIN_REQUIRES(mutex_);
  fiber* map() noexcept FORKJOIN_REQUIRES(mutex_);
  bool make_room() noexcept FORKJOIN_REQUIRES(mutex_);
  std::byte* reserve(std::size_t bytes) noexcept FORKJOIN_REQUIRES(mutex_);

  const bool is_small_;
  const std::size_t stack_size_;
  const std::size_t guard_;
  os::mutex mutex_;
  /// The one used last is the last. With room for all that are mapped, so that give cannot fail. No list through the
  /// fibers: if thousands of strands wait, the free ones have left the caches, and each step would wait for memory.
  std::vector<fiber*> idle_;
  std::size_t at_once_ = 1;        // for how many stacks the next reservation is
  std::byte* reserved_ = nullptr;  // the part of the last reservation that no stack has yet
  std::size_t reserved_bytes_ = 0;
  std::atomic<fiber*> all_{nullptr};  // the one that was mapped last
  std::atomic<unsigned>& numbers_;
  // Under the mutex, or read as hints.
  std::atomic<unsigned> mapped_{0};
  std::atomic<std::size_t> in_use_{0};
  std::atomic<std::size_t> peak_{0};
};

/// For a stack on which no strand runs: gives back the pages that lie more than kept_bytes below `used`, the lowest
/// address in use, or below the top if little is in use. Mostly costs a look at one page of the stack, sometimes system
/// calls.
void trim_stack(fiber& f, const std::byte* used) noexcept;

}}}  // namespace fj::v0_4::detail
