#include "runtime/schedule/execute.hpp"

#include <cstdlib>
#include <utility>

#include "runtime/fork/current.hpp"
#include "runtime/os/clock.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

// The end of a fiber, on the worker's native stack. `owner`: who waited for it and goes on now.
fiber* ended(worker& m, fiber& f, void* owner) noexcept {
  release_below(m, f);
  f.begun = false;
  if (m.stacks.push(f)) {
    trim_stack(f, f.stack_top());
  } else {
    m.home().stacks().give(&f);
  }
  if (owner) ++m.count().resumptions;
  return static_cast<fiber*>(owner);
}

// The opposite of come_after_thread, by a strand that leaves its thread.
void come_before_thread([[maybe_unused]] const worker& m) noexcept {
  if constexpr (os::races_are_detected)
    if (m.home().chosen().thread_order) os::publish(m.exceptions);
}

continuation_body body_of(const continuation& record) noexcept {
  const os::unseen_by_detector pause;  // it may lie in the frame of a scope's parent
  return record.joined.body();
}

// The life of a fiber. It arrives at the join, or tells its caller, on its own stack: what it wrote is ordered before
// that by the strand itself, whatever the worker does.
void first_frame(void* self) noexcept {
  arrive_on_worker();
  fiber& f = *static_cast<fiber*>(self);
  os::set_float_environment(f.job->floats);
  join_waiter* owner = nullptr;
  if (continuation* const record = f.stolen) {
    const outcome result = os::call_handling(f.handled, [&] { return body_of(*record)(*record); });
    owner = record->joined.arrive(result);
  } else {
    root& job = *f.job;
    os::call_handling(job.handled, [&] { job.call(job); });
    scheduler::finish(job, *current_worker());
  }
  end_strand(static_cast<fiber*>(owner));
}

// Onto the fiber's stack, and back when it leaves; returns what follows.
fiber* switch_to(worker& m, fiber& f) noexcept {
  os::observe(&f);  // made by another strand, perhaps
  std::atomic<deque*>& active = m.held->active;
  if (f.records) {
    deque* const empty = active.load(std::memory_order_relaxed);
    active.store(f.records, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
    m.home().attach(f);
    m.home().deques().give(empty);
    // Who looks at the active deques first and the detached ones then, and parks, may have missed this one in between.
    machine::fence();
    if (!seems_empty(*active.load(std::memory_order_relaxed))) m.home().wake();
  } else {
    deque* const empty = active.load(std::memory_order_relaxed);
    if (empty->is_roomless()) {
      if (deque* const better = m.home().deques().take()) {
        active.store(better, std::memory_order_release);  // release: as above
        m.home().deques().give(empty);
      }
    }
    active.load(std::memory_order_relaxed)->open(f.job);
  }
  if (!f.counted) {
    f.counted = &m.count().stacks;
    f.counted->take();
  }
  m.running = &f;
  set_current_deque(*active.load(std::memory_order_relaxed));
  os::switch_context(m.native, f.context);
  set_current_deque(outside);
  // Not always f: a scope's child may have come in its place, or f was made to go on with a child's parent.
  fiber& left = *m.running.replace(nullptr);
  os::observe(&left);
  const worker::afterwards then = m.then;
  if (then != &ended) {
    deque* const records = active.load(std::memory_order_relaxed);
    left.job = records->whose();  // a scope's child does not know yet
    release_below(m, left);
    if (!seems_empty(*records)) {
      left.records = records;
      m.home().detach(left);
      deque* const spare = m.spare_deque.replace(nullptr);
      if (!spare) {
        os::print_error("forkjoin: internal error: a fiber left with records, and its P has no other deque\n");
        std::abort();
      }
      active.store(spare, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
    }
    trim_stack(left, static_cast<const std::byte*>(left.context.registers));
  }
  return then(m, left, m.argument);
}

}  // namespace

// A thread is named by what the C++ runtime keeps for it: a worker may be another thread's at its next job.

void come_after_thread([[maybe_unused]] const worker& m) noexcept {
  if constexpr (os::races_are_detected)
    if (m.home().chosen().thread_order) os::observe(m.exceptions);
}

void arrive_on_worker() noexcept {
  os::observe(current_worker());
  os::observe(current_deque().identity());
  current_deque().set_exceptions(current_worker()->exceptions);
  come_after_thread(*current_worker());
}

void begin(fiber& f, const deque::loot& what) noexcept {
  f.job = what.job;
  f.begun = true;
  f.stolen = static_cast<continuation*>(what.taken);
  f.handled = what.handled;
  os::make_context(f.context, f.stack_top(), &first_frame, &f);
}

void end_strand(fiber* owner) noexcept {
  worker& m = *current_worker();
  m.then = &ended;
  m.argument = owner;
  fiber& f = *m.running;
  come_before_thread(m);
  os::publish(&m.home());  // whoever ends the runtime comes after all that was read of the worker
  os::finish_context(f.context, m.native);
  std::abort();  // nobody switches back
}

void execute(worker& m, fiber* f) noexcept {
  if (!m.count().busy.runs()) m.count().begin_busy(os::now_ns());
  while (f) {
    f = switch_to(m, *f);
    // A chain of fibers that resume each other must not keep out what waits (Go looks every 61st time, too). A thread
    // that works for its own job only runs nothing else.
    if (!f || m.is_outside() || ++m.held->tick % 61 != 0) continue;
    if (fiber* const first = m.home().take_ready(nullptr)) m.home().ready(*std::exchange(f, first));
  }
}

void leave(worker::afterwards then, void* argument) noexcept {
  worker& m = *current_worker();
  deque& d = current_deque();
  // Otherwise left alone: to lock it would order this strand before the next that opens it, as ThreadSanitizer sees it.
  if (d.has_private() && d.publish_all(os::handled_exception(*m.exceptions))) ++m.count().publications;
  m.then = then;
  m.argument = argument;
  come_before_thread(m);
  os::switch_context(m.running->context, m.native);
  arrive_on_worker();
}

void resume(fiber& waited) noexcept {
  worker& m = *current_worker();
  ++m.count().resumptions;
  m.home().ready(waited);
}

void release_below(worker& m, fiber& f) noexcept {
  for (fiber* free = f.below.replace(nullptr); free;) {
    fiber* const next = free->below.replace(nullptr);
    if (!m.stacks.push(*free)) m.home().stacks().give(free);
    free = next;
  }
}

bool prepare_stack(worker& m) noexcept {
  if (!m.stacks.empty()) return true;
  fiber* const f = m.home().stacks().take(&m.count().stacks);
  if (f) m.stacks.push(*f);
  return f;
}

bool may_leave() noexcept {
  if (current_deque().looks_empty()) return true;
  worker& m = *current_worker();
  if (!m.spare_deque) m.spare_deque = m.home().deques().take_at_any_rate();
  return m.spare_deque;
}

bool prepare_to_wait_for_others(worker& m) noexcept {
  // What a strand prepares its worker uses next. The one must not order the other, or the strand that the worker begins then
  // would come after this one, though it be another branch of the same fork.
  const os::unseen_by_detector pause;
  const os::unordered_for_detector by_this;
  if (!m.home().deques().have_roomless(m.home().chosen().procs) || !prepare_stack(m)) return false;
  if (!m.spare_deque) m.spare_deque = m.home().deques().take();
  return m.spare_deque;
}

}  // namespace fj::inline v0_1::detail
