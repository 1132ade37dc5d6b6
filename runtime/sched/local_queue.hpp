// What a worker does with the run queues of all P (run_queue.hpp): it puts a fiber into the queue of its own P, takes
// one from there, and steals from the queues of other P.
//
// Source: ready, schedule and runqsteal in Go's runtime/proc.go. If fiber A makes fiber B ready, B runs next, in A's
// time slice. So fibers that wake one another do not wait behind all ready fibers, and the ready fibers wait for them
// no longer than one slice.
#pragma once

#include <algorithm>
#include <cstdint>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct local_queue {
  /// A strand of this worker makes `f` ready: it runs next. A caller works for its own job only, so that `f` of
  /// another job goes to all workers.
  static void ready(worker& m, fiber& f) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    if (!is_for(m, f)) return dispatcher.ready(f);
    fiber* const behind = m.proc->chaos.once_in(tuning::puts_per_chaotic_one) ? &f : m.proc->queue.put_next(f);
    if (behind) append(m, *behind);
    dispatcher.announce();
  }

  /// The next fiber of the worker's own queue, in the slice of the one before, or nullptr. When the slice is over, that
  /// fiber goes to the end of the global queue, and the worker has yielded.
  static fiber* take_next(worker& m) noexcept {
    auto& queue = m.proc->queue;
    fiber* const next = queue.next();
    if (!next) return nullptr;
    const bool over = is_slice_over(m);
    fiber* const taken = queue.take_next(next);
    if (!taken || !over) return taken;
    m.yielded = true;
    m.sched().dispatcher().ready(*taken);
    return nullptr;
  }

  /// The first fiber in the ring of the worker's own queue, or nullptr. A new slice begins.
  static fiber* take(worker& m) noexcept {
    m.proc->slice_began = 0;
    fiber* const f = m.proc->queue.take();
    if (f) m.proc->took = precedence::in_order;
    return f;
  }

  /// Before `f` goes on. Once strands may be cut, each P looks whether that is to be so at once, and notes when its
  /// slice begins; a strand that was cut has the rest of its own.
  static void begin_run(worker& m, fiber& f) noexcept {
    if (!m.sched().dispatcher().notes_cuts()) [[likely]]
      return;
    m.sched().dispatcher().begin_run(*m.proc);
    const os::unseen_by_detector before_switch_to;  // which orders what made the fiber
    if (m.proc->slice_began != 0 && f.had == 0) return;
    m.proc->slice_began = os::rough_ns() - f.had.replace(0);
  }

  /// `f` has left the P because it was asked to. If that was for an urgent fiber, or one that goes on soon, `f` keeps
  /// the rest of its slice.
  static void keep_rest(worker& m, fiber& f) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    if (m.proc->slice_began == 0) return;
    if (!dispatcher.any_soon() && !dispatcher.any_urgent() && !m.proc->urgent_request.concerns(m.proc->runs)) return;
    const std::uint64_t had = os::rough_ns() - m.proc->slice_began;
    if (had < std::uint64_t{tuning::slice_ns}) f.had = (std::max)(had, std::uint64_t{1});
  }

  /// A fiber of another P's queue, of job `only` alone unless nullptr: half of the ring comes to this worker's.
  /// `next_too`: or the fiber that runs next there, if the victim does not come to it for a while.
  static fiber* steal(worker& m, processor& victim, const job* only, bool next_too) noexcept {
    if (&victim == m.proc) return nullptr;
    if (const fiber* const first = victim.queue.first(); first && (!only || first->whose == only))
      if (fiber* const f = take_half(m, victim, only)) return f;
    return next_too ? steal_next(m, victim, only) : nullptr;
  }

 private:
  static bool is_for(const worker& m, const fiber& f) noexcept {
    return m.proc && (!m.is_caller() || f.whose == m.brought);
  }

  // At the end of the ring; half of a full one goes to the global queue.
  static void append(worker& m, fiber& f) noexcept {
    auto& queue = m.proc->queue;
    while (!queue.put(f)) {
      const auto half = queue.take_half();
      m.sched().dispatcher().ready_all(half.entries());
    }
  }

  static bool is_slice_over(worker& m) noexcept {
    processor& p = *m.proc;
    if (p.queue.in_ring() == 0 && !m.sched().dispatcher().any_ready()) return false;  // no other waits for its end
    // A strand that only passes a value on takes 100 ns: a tenth of it would be the system's clock.
    const std::uint64_t now = os::rough_ns();
    if (p.slice_began == 0) p.slice_began = now;
    return now - p.slice_began > std::uint64_t{tuning::slice_ns};
  }

  static fiber* take_half(worker& m, processor& victim, const job* only) noexcept {
    fiber* first = nullptr;
    const auto half = victim.queue.take_half();  // named: a range-for would not keep it
    for (fiber* const f : half.entries()) {
      if (only && f->whose != only) {
        m.sched().dispatcher().ready(*f);
      } else if (!first) {
        first = f;
      } else {
        append(m, *f);
      }
    }
    return first;
  }

  static fiber* steal_next(worker& m, processor& victim, const job* only) noexcept {
    fiber* const next = victim.queue.next();
    if (!next || (only && next->whose != only)) return nullptr;
    // The victim may be about to run it: most fibers that make another ready wait for something soon after. No look
    // meanwhile: each takes a cache line from the victim.
    const std::uint32_t runs = victim.runs;
    const std::int64_t seen_at = os::now_ns();
    while (os::now_ns() - seen_at < tuning::next_is_kept_ns) os::pause();
    if (victim.queue.next() != next || victim.runs != runs) return nullptr;
    fiber* const taken = victim.queue.take_next(next);
    // By now that stack may be another fiber's.
    if (!taken || !only || taken->whose == only) return taken;
    m.sched().dispatcher().ready(*taken);
    return nullptr;
  }
};

}}}  // namespace fj::v0_4::detail
