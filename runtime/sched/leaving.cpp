#include "runtime/sched/leaving.hpp"

#include <atomic>

#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <class Then>
fiber* active_deque::leave_records(worker& m, fiber& left, Then then) noexcept {
  const bool has_records = detach(*m.proc, [&](deque& records) {
    left.records = &records;
    m.sched().dispatcher().push_marker(left);
  });
  system::trim_unused(left);
  fiber* const next = then();
  // With another fiber to run, the worker does not look at the ready queue, where the marker is.
  if (next && has_records) m.sched().dispatcher().wake();
  return next;
}

fiber* active_deque::leave(worker& m, fiber& left) noexcept {
  const auto then = [&m, &left]() -> fiber* {
    fiber* const next = m.then(m, left, m.argument);
    if (next == &left) system::make_runnable(left);  // what it waited for was there
    return next;
  };
  if (!m.proc) return then();            // after a blocking call: its records are with its marker
  left.whose = active(*m.proc).whose();  // a scope's child does not know yet
  system::detach_stacks(m, left);
  if (!m.carries.replace(false)) return leave_records(m, left, then);
  // The fiber gives way. Nothing of its records is private: the strand has seen to that (preemption.hpp). A thief that looks at
  // the deque still may take what is public.
  detach(*m.proc, [&left](deque& records) { left.carried = &records; });
  return then();
}

// What thieves left of the records of a fiber that waited, if anything.
deque* active_deque::take_back(worker& m, fiber& f) noexcept { return m.sched().dispatcher().take_back_records(f); }

void active_deque::activate(worker& m, deque& records) noexcept {
  deque& before = active(*m.proc);
  m.proc->active.store(&records, std::memory_order_release);  // release: pairs with the acquire in for_each_deque
  // A worker that parks may have looked at the active deques before, and at the ready queue, where the fiber was, after that.
  os::fence();
  if (!system::seems_empty(records)) {
    m.sched().dispatcher().wake();
  } else {  // a leapfrogging thief was faster: it wakes nobody, and that worker's alarm did not reach this deque
    records.alarm();
  }
  system::give_deque(m, before);
}

void active_deque::install(worker& m, fiber& f) noexcept {
  deque* records = f.carried.replace(nullptr);
  if (!records && f.records) records = take_back(m, f);
  if (records) {
    activate(m, *records);
    return;
  }
  if (!active(*m.proc).has_capacity()) system::replace_active_deque(m);
  active(*m.proc).open(f.whose);
}

}}}  // namespace fj::v0_2::detail
