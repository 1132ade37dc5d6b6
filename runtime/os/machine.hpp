// The machine that the lock-free algorithms run on.
#pragma once

#include <atomic>

#include "membarrier.hpp"
#include "mutex.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct root;

/// An atomic that costs no store to make; its first value is stored later.
template <class T>
class unset_atomic {
 public:
  unset_atomic() noexcept {}

  T load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(T value, std::memory_order order) noexcept { value_.store(value, order); }

 private:
  union {
    std::atomic<T> value_;
  };
};

/// The memory of the runtime, a memory_machine (fork/machine.hpp). The model checks have another one, which tries
/// interleavings and every value that a weak memory may return. `root`: what a deque works for.
struct machine {
  using root = detail::root;

  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  using unset_atomic = detail::unset_atomic<T>;
  using mutex = os::mutex;

  /// Sequentially consistent.
  static void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

  /// The cheap half of an asymmetric fence: keeps the compiler from reordering, costs no instruction.
  static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

  /// The expensive half: see os::membarrier.
  static void heavy_fence() noexcept { os::membarrier(); }
};

}}}  // namespace fj::v0_2::detail
