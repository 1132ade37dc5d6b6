#include "runtime/execute.hpp"

#include <utility>

#include "runtime/current.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/scheduler.hpp"

namespace fj::detail {

namespace {

// On a fiber's stack, whenever it begins or goes on: what it finds there was made before.
void arrive_on_worker() noexcept {
  os::observe(current_worker());
  os::observe(&current_deque());
}

// The end of a fiber, on the worker's native stack. `owner`: who waited for it and goes on now.
fiber* ended(worker& m, fiber& f, void* owner) noexcept {
  if (m.spare) {
    m.home().stacks().give(&f);
  } else {
    trim_stack(f, f.stack_bottom() + f.stack_size());
    m.spare = &f;
  }
  if (owner) ++m.count().resumptions;
  return static_cast<fiber*>(owner);
}

// The life of a fiber. It arrives at the join, or tells its caller, on its own stack: what it wrote is ordered before
// that by the strand itself, whatever the worker does.
void first_frame(void* self) noexcept {
  arrive_on_worker();
  fiber& f = *static_cast<fiber*>(self);
  os::set_float_environment(f.job->floats);
  join_waiter* owner = nullptr;
  if (continuation* const record = f.stolen) {
    const outcome result = record->joined.body()(*record);
    owner = record->joined.arrive(result);
  } else {
    root& job = *f.job;
    job.call(job);
    scheduler::finish(job, *current_worker());
  }
  worker& m = *current_worker();
  m.then = &ended;
  m.argument = static_cast<fiber*>(owner);
  os::publish(&m.home());
  os::finish_context(f.context, m.native);
}

// Onto the fiber's stack, and back when it leaves; returns what follows.
fiber* switch_to(worker& m, fiber& f) noexcept {
  std::atomic<deque*>& active = m.held->active;
  if (f.records) {
    deque* const empty = active.load(std::memory_order_relaxed);
    active.store(f.records, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
    m.home().attach(f);
    m.home().deques().give(empty);
    // Who looks at the active deques first and the detached ones then, and parks, may have missed this one in between.
    machine::fence();
    if (!active.load(std::memory_order_relaxed)->looks_empty()) m.home().wake();
  } else {
    active.load(std::memory_order_relaxed)->open(f.job, f.depth);
  }
  m.running = &f;
  set_current_deque(*active.load(std::memory_order_relaxed));
  os::switch_context(m.native, f.context);
  set_current_deque(outside.records);
  m.running = nullptr;
  const worker::afterwards then = m.then;
  if (then != &ended) {
    deque* const left = active.load(std::memory_order_relaxed);
    f.depth = left->depth();
    if (!left->looks_empty()) {
      f.records = left;
      m.home().detach(f);
      // release: pairs with the acquire in for_each_deque
      active.store(m.spare_deque.replace(nullptr), std::memory_order_release);
    }
    trim_stack(f, static_cast<const std::byte*>(f.context.registers));
  }
  return then(m, f, m.argument);
}

}  // namespace

void begin(fiber& f, root& job, continuation* record) noexcept {
  f.job = &job;
  f.stolen = record;
  f.depth = 0;
  os::make_context(f.context, f.stack_bottom(), f.stack_size(), &first_frame, &f);
}

void execute(worker& m, fiber* f) noexcept {
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
  m.then = then;
  m.argument = argument;
  os::switch_context(m.running->context, m.native);
  arrive_on_worker();
}

bool prepare_to_detach(worker& m) noexcept {
  if (!m.spare) m.spare = m.home().stacks().take();
  if (!m.spare_deque) m.spare_deque = m.home().deques().take();
  return m.spare && m.spare_deque;
}

}  // namespace fj::detail
