// The machine that the runtime's protocols run on: memory and its fences, a mutex, a futex, a clock.
//
// A program has one machine. The model checks and the simulator compile the same protocols for a machine of their own:
// there a load may return whatever a weak memory may (test/model/machine.hpp), or time is simulated
// (bench/simulate/machine.hpp). Such a machine is included before any file of the runtime, defines FORKJOIN_MACHINE,
// and has all that is in this file.
#pragma once

#ifndef FORKJOIN_MACHINE

#include <atomic>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/os/ticks.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/membarrier.hpp"
#include "runtime/os/turns.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Sequentially consistent.
inline void fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

/// Where threads take turns, another one may go on here: for a thread that looks for something, or for one that could
/// go on.
inline void may_lose_turn() noexcept {
  if (turns* const all = turns::mine()) [[unlikely]]
    all->pass();
}
inline void schedule_point() noexcept {
  if (turns* const all = turns::mine()) [[unlikely]]
    all->point();
}

/// The expensive half of an asymmetric fence, whose cheap half is light_fence: see membarrier.
inline void heavy_fence() noexcept { membarrier(); }

}}}}  // namespace fj::v0_4::detail::os

#endif
