// How a worker runs fibers: it switches from its native stack to the fiber's stack, and back.
#pragma once

#include "runtime/fork/current.hpp"
#include "runtime/os/context/switch_context.hpp"
#include "runtime/sched/thread_order.hpp"
#include "runtime/sched/worker.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Has `f` start with a stolen record, or with the job itself if there is no record in it.
void begin(fiber& f, const stolen_record& what) noexcept;

/// Suspends the running fiber. then(worker, fiber, argument) is called on the native stack once its context has been
/// saved, and from then on it may be resumed. Returns when it has been, perhaps on another worker. A strand that comes
/// back from a blocking call may have no P, and no deque. Inline: see os/context/switch_context.hpp.
inline void leave(worker::afterwards then, void* argument) noexcept;

/// Makes a fiber of that runtime ready: it runs next on the P of the calling strand, if that works for the same
/// runtime; else soon.
void make_ready(scheduler& s, fiber& f, precedence its = precedence::in_order) noexcept;

/// Has a fiber that waited at a join go on, by way of the global queue, as its caller goes on itself.
void resume(fiber& waited) noexcept;

/// On a fiber's stack, whenever it begins or goes on: what it finds there was made before.
void arrive_on_worker() noexcept;

/// The end of a fiber, on the worker's native stack: what end_strand has that worker do. `owner` as there.
fiber* ended(worker& m, fiber& f, void* owner) noexcept;

/// The end of the running fiber. Its worker goes on with `owner`, the fiber that waited for it, unless that is nullptr.
[[noreturn]] void end_strand(fiber* owner) noexcept;

// What strands tell a trace, if one is written.

/// A fiber of that runtime is to begin, before it can.
void emit_birth(scheduler& s, fiber& f) noexcept;
/// It may go on.
void emit_ready(scheduler& s, const fiber& f) noexcept;
/// If the fiber is a scope's child: whose, and its code if that is known.
void emit_line(const worker& m, fiber& f, std::uintptr_t code = 0) noexcept;
/// The running fiber is about to leave: at that join, if the place names no function.
void emit_wait(worker& m, const wait_place& place, const void* join = nullptr) noexcept;

/// Takes the free stacks below a fiber away, as they do not wait with it, nor go with it to the pool.
void release_all_below(worker& m, fiber& f) noexcept;
inline void release_below(worker& m, fiber& f) noexcept {
  if (f.below) release_all_below(m, f);
}

/// The fiber has ended: its stack is free, and so are those below it.
void release_stack(worker& m, fiber& f) noexcept;

/// Has the P keep no more than so many free stacks beside the small ones.
void release_stacks(worker& m, std::size_t but) noexcept;

/// A stack of at least that many bytes for a fiber of fj::go, nullptr if none is to be had. By any thread.
fiber* take_go_stack(scheduler& s, std::size_t size) noexcept;

/// Gives the small ones that the P keeps to their pool.
void release_small_stacks(worker& m) noexcept;

/// Has a free stack at hand, for a record to be stolen; false if none is to be had.
bool take_stack(worker& m) noexcept;
inline bool prepare_stack(worker& m) noexcept { return !m.proc->stacks.empty() || take_stack(m); }

/// Whether the running fiber may leave: its deque is empty, or the P has another one. Whatever ran on the
/// worker since it was asked last may have used that up, so ask where the fiber leaves. False only while the system
/// refuses memory and no fiber waits for something else than its forks: then what a join waits for is running, and ends
/// without this worker.
bool may_leave() noexcept;

/// Sets aside what it takes to suspend a fiber whose deque is not empty, for something else than its forks; false if
/// the system refuses memory.
bool prepare_to_wait_for_others(worker& m) noexcept;

[[gnu::always_inline]] inline void leave(worker::afterwards then, void* argument) noexcept {
  worker& m = *current_worker();
  deque& d = current_deque();
  // Otherwise left alone: to lock it would order this strand before the next that opens it, as ThreadSanitizer sees it.
  if (&d != &no_deque && d.has_private() && d.share_all(os::handled_exception(*m.exceptions))) {
    ++m.count().publications;
    emit_event(m, event::publish, d.public_count());
  }
  m.then = then;
  m.argument = argument;
  come_before_thread(m);
  os::switch_context(current_fiber()->context, m.native, *m.exceptions);
  arrive_on_worker();
}

}}}  // namespace fj::v0_4::detail
