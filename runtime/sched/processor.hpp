// P: the right to run fibers, with the data that its holder uses: queues, timers, deques, free stacks.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/relaxed.hpp"
#include "runtime/base/chaos.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/fork/deque.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/sched/blocking_word.hpp"
#include "runtime/sched/near_first.hpp"
#include "runtime/sched/processors.hpp"
#include "runtime/sched/run_queue.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/sched/urgent.hpp"
#include "runtime/sched/yield_request.hpp"
#include "runtime/stacks/fiber.hpp"
#include "runtime/stacks/stack_cache.hpp"
#include "runtime/trace/tracer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Belongs to the worker that holds it; others read `active` to steal, and the counters, and fire timers that are due.
struct alignas(cache_line) processor {
  /// The deque of the running fiber; empty while none runs. Never nullptr, and what it points to is never freed.
  std::atomic<deque*> active{nullptr};
  unsigned index = 0;
  relaxed<int> cpu = -1;                   ///< on which its strand began or went on; -1: not noted (switch_to.hpp)
  const tracing* traces = nullptr;         ///< of its runtime
  run_queue<fiber> queue;                  ///< ready fibers; empty while the P is idle
  relaxed<std::uint32_t> runs = 0;         ///< how often a fiber began or went on
  relaxed<unsigned> tick = 0;              ///< time slices, and fibers that went on for another: tuning::ticks_per_look
  relaxed<std::uint64_t> slice_began = 0;  ///< by os::rough_ns; 0: not noted
  relaxed<precedence> took = precedence::in_order;  ///< of what it took from a queue last
  relaxed<std::uint64_t> soon_until = 0;            ///< by os::rough_ns: takes what goes on soon in a row until then
  processor* next = nullptr;                        ///< among the idle ones
  relaxed<bool> visited = false;                    ///< by a caller, which took it as parking.hpp says
  stack_cache stacks;                               ///< to run what is stolen next, and the children of scopes
  stack_cache small_stacks;                         ///< for the fibers of fj::go
  published<deque*> spare_deque = nullptr;          ///< for when the running fiber leaves with records in its own
  detail::chaos chaos;                              ///< of the worker's and its fibers' choices
  relaxed<unsigned> looks_at_timers = 0;            ///< of the worker, in a runtime with timers: tuning::ticks_per_look
  timer_heap timers;                                ///< of strands that waited on this P
  detail::yield_request yield_request;              ///< to the strand of the present run
  detail::yield_request urgent_request;             ///< to the same, for an urgent fiber
  urgent_time urgent;
  blocking_word blocking;  ///< whether its strand is in a call of fj::blocking
  alignas(cache_line) tallies count;
};

/// Those of a runtime.
class processors : public basic_processors<processor, fixed_array, near_first> {
 public:
  /// Throws std::bad_alloc.
  explicit processors(unsigned count, near_first looks = {}) : basic_processors(count, std::move(looks)) {
    for (unsigned i = 0; i < count; ++i) (*this)[i].index = i;
  }
};

}}}  // namespace fj::v0_4::detail
