// M: an OS thread that runs fibers while it holds a P. It schedules on its native stack (Go's g0).
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "forkjoin/abi/relaxed.hpp"
#include "forkjoin/abi/scope.hpp"
#include "runtime/base/random.hpp"
#include "runtime/os/context/context.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/caller_pace.hpp"
#include "runtime/sched/fence_by_signal.hpp"
#include "runtime/sched/poll_entry.hpp"
#include "runtime/sched/processor.hpp"
#include "runtime/sched/sleep_word.hpp"
#include "runtime/stacks/fiber.hpp"
#include "runtime/trace/ring.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler;

/// What the scheduler and the steps of a worker (find.hpp, switch.hpp, run.hpp) know of a thread. Never freed while the
/// scheduler lives, so that a late signal finds it.
struct worker : worker_face {
  /// What a worker does on its native stack when a fiber has just left it: returns the fiber to run next, or nullptr.
  using afterwards = fiber* (*)(worker&, fiber&, void* argument) noexcept;

  worker(scheduler& whose, unsigned with_number) noexcept
      : number(with_number), dice(with_number), scheduler_(&whose) {}

  scheduler& sched() const noexcept { return *scheduler_; }

  /// Sleeps until signaled, until wakes_at, or until it has polled waits to wake: sleep_word.hpp.
  void sleep() noexcept;
  void signal() noexcept;

  /// By any thread: whether the thread sleeps until a signal, and none has come. `sleep`: which of its sleeps that is.
  bool sleeps_for_good(std::uint64_t& sleep) noexcept;

  /// Of a caller of run; it works only for the job it brought.
  bool is_caller() const noexcept { return !thread.started(); }

  /// From now on, until end_light_fences, the thread may fork. By itself, when it begins to work for the runtime, after
  /// each sleep, and after each blocking call.
  void begin_light_fences() noexcept;
  void end_light_fences() noexcept;

  tallies& count() noexcept { return proc->count; }

  const unsigned number;                   ///< of those that the runtime starts from 1 on, of callers from 0x10000
  published<trace_ring*> trace = nullptr;  ///< where its events go, while a trace is written

  // Set under the dispatcher's mutex while the worker sleeps, the worker's own otherwise.
  relaxed<processor*> proc = nullptr;      ///< the P that it holds
  relaxed<bool> spinning = false;          ///< counted as looking for work
  bool asleep = false;                     ///< waits in run without a P; under the dispatcher's mutex
  list_links<worker> sleeps;               ///< among the sleeping; under the dispatcher's mutex
  relaxed<std::int64_t> wakes_at = never;  ///< of a timekeeper: when its sleep ends by itself, by os::now_ns
  job* brought = nullptr;                  ///< of a caller of run: its job
  std::atomic<unsigned> placers{0};        ///< threads that choose a CPU for this one, which waits for them

  // The worker's own, and of the fiber it runs.
  os::context native;
  /// The fiber that it switched to, or a child of that. Published as `published` is, because other threads read it to
  /// write messages.
  relaxed<const fiber*, std::memory_order_release, std::memory_order_acquire> runs = nullptr;
  relaxed<afterwards> then = nullptr;   ///< set by the fiber that leaves
  relaxed<void*> argument = nullptr;    ///< for `then`
  relaxed<bool> carries = false;        ///< the fiber that left is to keep its records: leaving.hpp
  relaxed<unsigned> readied = 0;        ///< how many fibers its strands made ready
  relaxed<bool> yielded = false;        ///< the fiber that left is ready, and others come first
  published<job*> submitted = nullptr;  ///< a job for another runtime, for which the running fiber suspends
  random dice;
  relaxed<std::int64_t> stolen_at = 0;  ///< when it last took a record to run on a stack of its own, by os::now_ns
  relaxed<std::int64_t> shared_at = 0;  ///< when a strand that it runs last made records public, by os::now_ns

  relaxed<std::uint64_t> hooks_seen = 0;  ///< of thread_hooks

  claimed_polls polled;  ///< what it found when it slept in the poller, to be woken

  caller_pace pace;  ///< of a caller of run

  os::thread thread;
  light_fences fences;

 private:
  sleep_word sleeping_;
  std::atomic<std::uint64_t> sleeps_{0};  // odd while it sleeps until a signal
  relaxed<scheduler*> scheduler_;
};

/// As looks_empty, by a worker on its native stack. A strand that it begins comes after all that the worker comes
/// after, as ThreadSanitizer sees it; so a look at what the owner pushed last would hide races with the owner.
inline bool seems_empty(const auto& d) noexcept {
  const os::unordered_for_detector hint;
  return d.looks_empty();
}

}}}  // namespace fj::v0_4::detail
