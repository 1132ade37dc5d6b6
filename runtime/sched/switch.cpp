#include "runtime/sched/switch.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "forkjoin/abi/scheduled_call.hpp"
#include "runtime/base/prefetch.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/probe.hpp"
#include "runtime/sched/leaving.hpp"
#include "runtime/sched/local_queue.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/thread_order.hpp"
#include "runtime/stacks/overflow.hpp"
#include "runtime/trace/emit.hpp"
#include "runtime/trace/tracer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// By any thread, to the ring of its own if the trace has one for it.
void emit_in(const tracing& traces, event what, unsigned proc, std::uint32_t fiber, std::uint64_t a = 0,
             std::uint64_t b = 0) noexcept {
  FORKJOIN_PROBE_EVENT(static_cast<unsigned>(what), proc, fiber, a, b);
  tracer* const now = traces.now();
  if (!now) [[likely]]
    return;
  const worker* const m = current_worker();
  trace_ring* const own = m ? static_cast<trace_ring*>(m->trace) : nullptr;
  if (own && &own->whose() == now) {
    own->add(what, proc, fiber, a, b);
  } else {
    now->add_outside(what, proc, fiber, a, b);
  }
}

unsigned own_proc() noexcept {
  const worker* const m = current_worker();
  return m && m->proc ? m->proc->index : no_proc;
}

std::uint64_t number_of(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

continuation_body body_of(const continuation& record) noexcept {
  const os::unseen_by_detector pause;  // it may lie in the frame of a scope's parent
  return record.joined.body();
}

void emit_stack(const tracing& traces, const tracer& now, fiber& f) noexcept {
  if (f.traced == &now) return;
  emit_in(traces, event::stack, own_proc(), f.number, number_of(f.stack_bottom()), number_of(&f + 1));
  f.traced = &now;
}

// Where its code is, and its join; before its job or the record it was begun for can be gone.
[[gnu::cold, gnu::noinline]] void emit_birth(const tracing& traces, fiber& f) noexcept {
  tracer* const now = traces.now();
  if (!now) return;
  emit_stack(traces, *now, f);
  const continuation* const record = f.stolen;
  if (record) {
    emit_in(traces, event::born, own_proc(), f.number, reinterpret_cast<std::uintptr_t>(body_of(*record)),
            number_of(&record->joined));
  } else {
    const job* const whose = f.whose;
    emit_in(traces, event::born, own_proc(), f.number, reinterpret_cast<std::uintptr_t>(whose->body->call));
  }
}

void run_body(job& whose) noexcept {
  os::call_handling(whose.handled, [&] {
    whose.body->call(*whose.body);
    whose.end_rest();
  });
  whose.ended(whose, *current_worker());
}

// The memory of a scheduled call may end while its body runs, and what that forks works for a job: for one in this
// frame.
[[gnu::noinline]] void run_scheduled(fiber& f) noexcept {
  const job& queued = *f.whose;
  operation_body body = static_cast<const operation_body&>(*queued.body);
  job own = [&] {
    const os::unseen_by_detector pause;  // a worker that this strand leaves writes to it, on its native stack
    return job(&body);
  }();
  own.handled = nullptr;
  own.ended = queued.ended;
  own.scheduled = true;
  f.whose = &own;
  current_deque().open(&own);
  run_body(own);
}

// The life of a fiber. It arrives at its join, or tells its caller, on its own stack, so that the strand orders what it
// wrote.
void first_frame(void* self) noexcept {
  arrive_on_worker();
  fiber& f = *static_cast<fiber*>(self);
  os::set_float_environment(f.whose->floats);
  join_waiter* owner = nullptr;
  if (continuation* const record = f.stolen) {
    const outcome result = os::call_handling(f.handled, [&] { return body_of(*record)(*record); });
    owner = record->joined.arrive(result);
  } else {
    job& whose = *f.whose;
    whose.scheduled ? run_scheduled(f) : run_body(whose);
  }
  end_strand(static_cast<fiber*>(owner));
}

}  // namespace

fiber* ended(worker& m, fiber& f, void* owner) noexcept {
  f.begun = false;
  f.becomes(fiber_state::free);
  release_stack(m, f);
  if (!owner) return nullptr;
  ++m.count().resumptions;
  auto* const next = static_cast<fiber*>(owner);
  next->becomes(fiber_state::runnable);
  return next;
}

void scheduler_hooks::make_runnable(fiber& f) noexcept {
  f.becomes(fiber_state::runnable);
  emit_event(*current_worker(), event::ready, 0, 0, f.number);
}

void emit_idle(const processor& p) noexcept { emit_in(*p.traces, event::idle, p.index, 0); }
void emit_wake(const processor& p, const worker& woken) noexcept {
  emit_in(*p.traces, event::wake, p.index, 0, woken.number);
}
void emit_retake(const processor& p, const fiber& strand) noexcept {
  emit_in(*p.traces, event::retake, p.index, strand.number);
}
void emit_ready(scheduler& s, const fiber& f) noexcept {
  emit_in(s.traces(), event::ready, own_proc(), f.number, f.urgent);
}
void emit_birth(scheduler& s, fiber& f) noexcept { emit_birth(s.traces(), f); }

void emit_line(const worker& m, fiber& f, std::uintptr_t code) noexcept {
  const trace_ring* const ring = m.trace;
  if (!ring) return;
  const os::unseen_by_detector pause;  // a parent does not run meanwhile
  std::array<fiber*, 64> line;         // the innermost first; of a longer one the trace knows no more
  std::size_t count = 0;
  for (fiber* child = &f; !child->begun && count < line.size();) {
    line[count++] = child;
    child = static_cast<fiber*>(child->as_child.stands_for);
  }
  while (count > 0) {
    fiber& child = *line[--count];
    emit_stack(m.sched().traces(), ring->whose(), child);
    emit_event(m, event::child, static_cast<fiber*>(child.as_child.stands_for)->number, count == 0 ? code : 0,
               child.number);
  }
}

void emit_wait(worker& m, const wait_place& place, const void* join) noexcept {
  trace_ring* const ring = m.trace;
  if (!ring) [[likely]]
    return;
  emit_line(m, *current_fiber());
  const std::uint64_t text = place.what ? ring->whose().place(place.what, place.at) : 0;
  emit_event(m, event::wait, text, number_of(join), current_fiber()->number);
}

void arrive_on_worker() noexcept {
  os::happens_after(current_worker());
  current_fiber()->note_possible_theft();
  os::happens_after(current_deque().identity());
  current_deque().set_exceptions(current_worker()->exceptions);
  come_after_thread(*current_worker());
}

void begin(fiber& f, const stolen_record& what) noexcept {
  f.becomes(fiber_state::runnable);
  f.whose = what.whose;
  {
    const os::unseen_by_detector of_its_job;  // which does not end before the strand that begins
    f.urgent = what.whose->urgent;
    f.started_at = what.whose->started_at;
  }
  f.begun = true;
  f.lasting_calls = 0;
  f.stolen = static_cast<continuation*>(what.record);
  f.begun_at = 0;
  f.handled = what.handled;
  os::make_context(f.context, f.stack_top(), &first_frame, &f);
}

void end_strand(fiber* owner) noexcept {
  worker& m = *current_worker();
  m.then = &ended;
  m.argument = owner;
  fiber& f = *current_fiber();
  const bool timed = f.begun && f.begun_at != 0;
  if (timed || owner) {
    const std::int64_t now = os::now_ns();
    if (owner) owner->arrived_at = now;
    if (timed) m.count().note_stolen(now - f.begun_at);
  }
  os::exception_globals& exceptions = *m.exceptions;
  come_before_thread(m);
  os::happens_before(&m.sched());  // the end of the runtime comes after all that was read of the worker
  os::finish_context(f.context, m.native, exceptions);
  std::abort();  // no strand switches back
}

// How a fiber that waited becomes ready.

namespace {

// What the fiber reads first when it goes on: its last frames. The strand that wakes it goes on for some time, so that
// memory is there by then.
void prefetch_stack(const fiber& f) noexcept {
  constexpr std::size_t frames = 512;
  prefetch(f.context.registers, frames);
}

}  // namespace

namespace {

// The clock would be a tenth of the way from one strand to another. Source: gTrackingPeriod in Go's
// runtime/runtime2.go.
bool is_measured(worker& m) noexcept {
  m.readied = m.readied + 1;
  return m.readied % tuning::wakes_per_measured == 0;
}

}  // namespace

// By a strand of the runtime the fiber runs next, in that strand's slice, unless it is urgent. So it does if a worker
// fired a timer while others look for work: one of them takes it, if this one does not come to it.
void make_ready(scheduler& s, fiber& f, precedence its) noexcept {
  prefetch_stack(f);
  if (f.urgent) [[unlikely]]
    its = precedence::urgent;
  worker* const m = current_worker();
  const bool by_worker = m && &m->sched() == &s;
  // After fork(2) a thread of the child may end a wait in its copy of a runtime, as by a close. No thread would go on.
  if (!by_worker && s.is_forked_copy()) return;
  const bool by_strand = by_worker && its == precedence::in_order;
  if (!by_strand || is_measured(*m)) {
    f.ready_at = os::now_ns();
    f.ready_for = by_strand ? tuning::wakes_per_measured : 1u;
  }
  const auto ready = [&] {
    if (its == precedence::urgent)
      return s.dispatcher().ready_urgent(f, by_worker ? static_cast<processor*>(m->proc) : nullptr);
    if (by_worker && (its == precedence::in_order || !s.dispatcher().all_busy())) return local_queue::ready(*m, f);
    s.dispatcher().ready_soon(f);
  };
  // The fiber may go on and end its runtime before ready returns. That end waits for the runtime's own threads.
  if (by_worker && !m->is_caller()) return ready();
  const scheduler::guest counted(s);
  ready();
}

// A P that another worker gives to one that sleeps is not its own yet.
void scheduler_hooks::wake_polled(worker& m, bool holds_processor) noexcept {
  if (!m.polled.any()) return;
  if (!holds_processor) set_current_worker(nullptr);
  m.polled.wake_all(precedence::soon);
  set_current_worker(&m);
}

bool scheduler_hooks::is_watched(worker& m) noexcept { return m.sched().monitor().watch(); }
void scheduler_hooks::monitor_wakes_by(worker& m, std::int64_t time) noexcept { m.sched().monitor().wake_by(time); }

void resume(fiber& waited) noexcept {
  worker& m = *current_worker();
  ++m.count().resumptions;
  const std::int64_t now = os::now_ns();
  waited.arrived_at = now;
  waited.ready_at = now;
  waited.ready_for = 1;
  waited.becomes(fiber_state::runnable);
  emit_event(m, event::ready, waited.urgent, 0, waited.number);
  m.sched().dispatcher().ready(waited, m.proc);
}

// The free stacks and the deques of a P: what its worker needs to begin a stolen record, and to suspend a fiber.

void release_all_below(worker& m, fiber& f) noexcept {
  for (fiber* free = f.below.replace(nullptr); free;) {
    fiber* const next = free->below.replace(nullptr);
    if (m.proc->stacks.push(*free)) {
      trim_stack(*free, free->stack_top());
    } else {
      m.sched().stacks().give(free);
    }
    free = next;
  }
}

void release_stack(worker& m, fiber& f) noexcept {
  release_below(m, f);
  if (f.pool == &m.sched().small_stacks()) {
    trim_stack(f, f.stack_top());
    stack_cache& kept = m.proc->small_stacks;
    if (kept.push(f)) return;
    m.sched().small_stacks().take_back(kept, stack_cache::limit / 2);
    kept.push(f);
  } else if (f.pool == &m.sched().stacks() && m.proc->stacks.count() < tuning::stacks_of_ended_strands &&
             m.proc->stacks.push(f)) {
    trim_stack(f, f.stack_top());
  } else {
    f.pool->give(&f);
  }
}

void release_stacks(worker& m, std::size_t but) noexcept {
  while (m.proc->stacks.count() > but) m.sched().stacks().give(&m.proc->stacks.pop());
}

namespace {

fiber* take_small_stack(scheduler& s) noexcept {
  worker* const m = current_worker();
  if (!m || &m->sched() != &s) return s.small_stacks().take(nullptr);
  stack_cache& kept = m->proc->small_stacks;
  if (kept.empty()) s.small_stacks().fill(kept);
  return kept.empty() ? nullptr : &kept.pop();
}

}  // namespace

fiber* take_go_stack(scheduler& s, std::size_t size) noexcept {
  if (size <= s.settings().go_stack_size) return take_small_stack(s);
  if (size <= s.settings().stack_size) return s.stacks().take(nullptr);
  stack_pool* const pool = s.large_stacks().pool_of(size);
  return pool ? pool->take(nullptr) : nullptr;
}

void release_small_stacks(worker& m) noexcept { m.sched().small_stacks().take_back(m.proc->small_stacks, 0); }

bool take_stack(worker& m) noexcept {
  fiber* const f = m.sched().stacks().take(&m.count().stacks);
  if (f) m.proc->stacks.push(*f);
  return f;
}

// On the native stack the worker needs one free stack, for the theft that follows. If the pool is empty, another P
// would map a stack while this P keeps several: a P to which strands move, and where they end, keeps the stack of each.
// On a strand's stack a scope's forks will need the others.
bool scheduler_hooks::prepare_stack(worker& m) noexcept {
  if (!current_fiber() && m.sched().stacks().seems_empty()) detail::release_stacks(m, 1);
  return detail::prepare_stack(m);
}

fiber* scheduler_hooks::begin(worker& m, const stolen_record& what) noexcept {
  fiber& thief = m.proc->stacks.pop();
  detail::begin(thief, what);
  if (m.trace) [[unlikely]]
    emit_birth(m.sched().traces(), thief);
  return &thief;
}

// A job whose strand ends leaves its worker looking for work. This worker may be about to run a fiber.
bool scheduler_hooks::refuse(worker& m, job& r) noexcept {
  if (r.scheduled) {
    m.sched().dispatcher().ready(r);
    return false;
  }
  const bool looks = m.spinning;
  r.refused = true;
  r.ended(r, m);
  if (!looks) m.sched().dispatcher().stop_spinning(m);
  return true;
}

void scheduler_hooks::release_all_stacks(worker& m, std::size_t but) noexcept {
  detail::release_stacks(m, but);
  release_small_stacks(m);
}

void scheduler_hooks::detach_stacks(worker& m, fiber& left) noexcept { release_below(m, left); }

void scheduler_hooks::trim_unused(fiber& left) noexcept {
  trim_stack(left, static_cast<const std::byte*>(left.context.registers));
}

void scheduler_hooks::give_deque(worker& m, deque& empty) noexcept {
  if (!m.proc->spare_deque) {
    m.proc->spare_deque = &empty;
  } else {
    m.sched().deques().give(&empty);
  }
}

deque& scheduler_hooks::take_spare_deque(processor& p) noexcept {
  deque* const spare = p.spare_deque.replace(nullptr);
  if (spare) return *spare;
  os::print_error("forkjoin: internal error: a fiber left with records, and its P has no other deque\n");
  std::abort();
}

void scheduler_hooks::replace_active_deque(worker& m) noexcept {
  deque* const better = m.sched().deques().take();
  if (!better) return;
  deque* const before = m.proc->active.load(std::memory_order_relaxed);
  // release: pairs with the acquire in processors.hpp: deque_of
  m.proc->active.store(better, std::memory_order_release);
  m.sched().deques().give(before);
}

bool may_leave() noexcept {
  if (current_deque().looks_empty()) return true;
  worker& m = *current_worker();
  if (!m.proc->spare_deque) m.proc->spare_deque = m.sched().deques().take_or_fallback();
  return m.proc->spare_deque;
}

bool prepare_to_wait_for_others(worker& m) noexcept {
  // What a strand prepares its worker uses next. The one must not order the other, or the strand that the worker begins
  // then would come after this one, though it be another branch of the same fork.
  const os::unseen_by_detector pause;
  const os::unordered_for_detector by_this;
  if (!m.sched().deques().have_fallbacks(m.sched().settings().procs) || !prepare_stack(m)) return false;
  if (!m.proc->spare_deque) m.proc->spare_deque = m.sched().deques().take();
  return m.proc->spare_deque;
}

bool scheduler_hooks::prepare_to_wait(worker& m) noexcept { return prepare_to_wait_for_others(m); }

}}}  // namespace fj::v0_4::detail
