// The machine that the runtime's protocols run on: memory and its fences, a mutex, a futex, a clock.
//
// A program has one machine. The model checks and the simulator compile the same protocols for a machine of their own: there a
// load may return whatever a weak memory may (test/model/machine.hpp), or time is simulated (bench/simulate/machine.hpp).
// Such a machine is included before any file of the runtime, defines FORKJOIN_MACHINE, and has all that is in this file.
#pragma once

#ifndef FORKJOIN_MACHINE

#include <atomic>

#include "clock.hpp"
#include "cpu.hpp"
#include "futex.hpp"
#include "interrupt.hpp"
#include "membarrier.hpp"
#include "mutex.hpp"
#include "ticks.hpp"
#include "turns.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

template <class T>
using atomic = std::atomic<T>;

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

/// Sequentially consistent.
inline void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

/// Where threads take turns, another one may go on here: for a thread that looks for something, or for one that could go on.
inline void may_lose_turn() noexcept {
  if (turns* const all = turns::mine()) [[unlikely]]
    all->pass();
}
inline void schedule_point() noexcept {
  if (turns* const all = turns::mine()) [[unlikely]]
    all->point();
}

// An asymmetric fence: if one thread passes the light one and another the heavy one, at least one of them sees what the other
// stored before.

/// The cheap half: keeps the compiler from reordering, costs no instruction.
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// The expensive half: see membarrier.
inline void heavy_fence() noexcept { membarrier(); }

}}}}  // namespace fj::v0_2::detail::os

#endif
