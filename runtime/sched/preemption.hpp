// How a strand gives its P to a fiber that waits for one: when its time slice is over (time_slices.hpp), or at random
// in chaos.
//
// Source: preemptone, goschedImpl and newstack in Go's runtime/proc.go and runtime/stack.go.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/tuning.hpp"
#include "runtime/sched/local_queue.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/owner.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct preemption {
  /// After a push of the strand that found a request: answers it. `handled`: the exception that the strand
  /// handles, or nullptr. Returns whether the strand shall give way now.
  [[nodiscard]] static bool finish_push(worker& m, deque& d, void* handled) noexcept {
    owner_steps::answer_request(m, d, handled);
    if (m.sched().settings().chaos != 0) d.request();  // so that the next push comes here, too
    // After the deque's request is cleared, because the monitor writes the P's before it sends that.
    return is_asked(m) || m.proc->chaos.once_in(tuning::forks_per_chaotic_yield);
  }

  /// Whether the running strand has been asked to give way: by the monitor, or for an urgent fiber that no other P has
  /// taken meanwhile.
  static bool is_asked(const worker& m) noexcept {
    processor& p = *m.proc;
    const std::uint32_t run = p.runs;
    if (p.yield_request.concerns(run)) return true;
    if (!p.urgent_request.concerns(run)) return false;
    if (m.sched().dispatcher().wants_for_urgent(p)) return true;
    p.urgent_request.refuse();
    return false;
  }

  /// True: the strand leaves its stack now, for others that come first, and its records go with it (leaving.hpp:
  /// leave). False: it stays, in a forked copy of the process or while the system refuses memory.
  [[nodiscard]] static bool prepare(worker& m) noexcept {
    if (m.sched().is_forked_copy() || !scheduler_hooks::prepare_to_wait(m)) return false;
    ++m.count().preemptions;
    // A thief that uses force must take nothing, nor look for exceptions on a thread that the strand has left.
    deque& d = *m.proc->active.load(std::memory_order_relaxed);
    if (d.has_private()) d.hide_exceptions(scheduler_hooks::between_handlers());
    m.carries = true;
    m.then = &go_behind_others;
    return true;
  }

 private:
  // On the native stack.
  static fiber* go_behind_others(worker& m, fiber& f, void*) noexcept {
    local_queue::keep_rest(m, f);
    return caller_loop::yield(m, f);
  }
};

}}}  // namespace fj::v0_4::detail
