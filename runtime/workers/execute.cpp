#include "runtime/workers/execute.hpp"

#include <cstdlib>

#include "runtime/fork/current.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/loops/active_deque.hpp"
#include "runtime/stacks/overflow.hpp"
#include "runtime/workers/scheduler.hpp"
#include "runtime/workers/thread_order.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

using active_deque = basic_active_deque<system>;

namespace {

// The end of a fiber, on the worker's native stack. `owner`: who waited for it and goes on now.
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

continuation_body body_of(const continuation& record) noexcept {
  const os::unseen_by_detector pause;  // it may lie in the frame of a scope's parent
  return record.joined.body();
}

// The life of a fiber. It arrives at its join, or tells its caller, on its own stack, so that the strand orders what it wrote.
void first_frame(void* self) noexcept {
  arrive_on_worker();
  fiber& f = *static_cast<fiber*>(self);
  os::set_float_environment(f.whose->floats);
  join_waiter* owner = nullptr;
  if (continuation* const record = f.stolen) {
    const outcome result = os::call_handling(f.handled, [&] { return body_of(*record)(*record); });
    owner = record->joined.arrive(result);
  } else {
    root& whose = *f.whose;
    os::call_handling(whose.handled, [&] {
      whose.call(whose);
      destroy_locals(whose.locals);
    });
    whose.ended(whose, *current_worker());
  }
  end_strand(static_cast<fiber*>(owner));
}

}  // namespace

// Onto the fiber's stack, and back when it leaves; returns what follows. The worker may hold another P by then.
fiber* system::switch_to(worker& m, fiber& f) noexcept {
  os::happens_after(&f);  // made by another strand, perhaps
  active_deque::install(m, f);
  if (!f.counted) {
    f.counted = &m.count().stacks;
    f.counted->take();
  }
  f.becomes(fiber_state::running);
  m.runs = &f;
  m.sched().monitor().attend();
  set_current_fiber(&f);
  set_current_deque(*m.proc->active.load(std::memory_order_relaxed));
  os::switch_context(m.native, f.context, *m.exceptions);
  set_current_deque(outside);
  // Not always f: a scope's child may have come in its place, or f was made to go on with a child's parent.
  fiber& left = *current_fiber();
  set_current_fiber(nullptr);
  m.runs = nullptr;
  os::happens_after(&left);
  check_canary(left);
  if (m.then == &ended) return ended(m, left, m.argument);
  left.becomes(fiber_state::waiting);
  return active_deque::leave(m, left);
}

void system::becomes_runnable(fiber& f) noexcept { f.becomes(fiber_state::runnable); }

void arrive_on_worker() noexcept {
  os::happens_after(current_worker());
  current_fiber()->misses_record();
  os::happens_after(current_deque().identity());
  current_deque().set_exceptions(current_worker()->exceptions);
  come_after_thread(*current_worker());
}

void begin(fiber& f, const deque::stolen_record& what) noexcept {
  f.becomes(fiber_state::runnable);
  f.whose = what.whose;
  f.begun = true;
  f.lasting_calls = 0;
  f.stolen = static_cast<continuation*>(what.record);
  f.handled = what.handled;
  os::make_context(f.context, f.stack_top(), &first_frame, &f);
}

void end_strand(fiber* owner) noexcept {
  worker& m = *current_worker();
  m.then = &ended;
  m.argument = owner;
  fiber& f = *current_fiber();
  os::exception_globals& exceptions = *m.exceptions;
  come_before_thread(m);
  os::happens_before(&m.sched());  // the end of the runtime comes after all that was read of the worker
  os::finish_context(f.context, m.native, exceptions);
  std::abort();  // no strand switches back
}

void leave(worker::afterwards then, void* argument) noexcept {
  worker& m = *current_worker();
  deque& d = current_deque();
  // Otherwise left alone: to lock it would order this strand before the next that opens it, as ThreadSanitizer sees it.
  if (&d != &outside && d.has_private() && d.publish_all(os::handled_exception(*m.exceptions)))
    ++m.count().publications;
  m.then = then;
  m.argument = argument;
  come_before_thread(m);
  os::switch_context(current_fiber()->context, m.native, *m.exceptions);
  arrive_on_worker();
}

}}}  // namespace fj::v0_2::detail
