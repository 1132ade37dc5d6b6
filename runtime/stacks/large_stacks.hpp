// Stacks for fibers of fj::go that ask for more than the runtime's other stacks have.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <new>

#include "runtime/stacks/stack_pool.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A pool for each power of two that was asked for.
class large_stacks {
 public:
  /// The most that a stack may have, in bytes.
  static constexpr std::size_t most = std::size_t{1} << 40;

  explicit large_stacks(std::atomic<unsigned>& numbers) noexcept : numbers_(numbers) {}
  large_stacks(const large_stacks&) = delete;
  large_stacks& operator=(const large_stacks&) = delete;
  ~large_stacks() {
    for (auto& pool : pools_) delete pool.load(std::memory_order_relaxed);
  }

  /// The pool whose stacks have at least `size` bytes, from 2 to `most`; nullptr if the system refuses memory. By any
  /// thread.
  stack_pool* pool_of(std::size_t size) noexcept {
    const auto power = static_cast<unsigned>(std::bit_width(size - 1));
    std::atomic<stack_pool*>& pool = pools_[power];
    stack_pool* there = pool.load(std::memory_order_acquire);  // acquire, here and below: pairs with the release below
    if (there) return there;
    auto* const made = new (std::nothrow) stack_pool(std::size_t{1} << power, numbers_);
    if (!made || pool.compare_exchange_strong(there, made, std::memory_order_release, std::memory_order_acquire))
      return made;
    delete made;  // another thread was first
    return there;
  }

  template <class Visit>
  void for_each_pool(Visit visit) const {
    for (const auto& pool : pools_)
      // acquire: pairs with the release in pool_of
      if (const stack_pool* const there = pool.load(std::memory_order_acquire)) visit(*there);
  }

 private:
  friend struct layout;

  std::atomic<unsigned>& numbers_;
  std::array<std::atomic<stack_pool*>, std::bit_width(most)> pools_{};
};

}}}  // namespace fj::v0_4::detail
