#include "runtime/strand/give_way.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/os/context/switch_context.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/sched/preemption.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/sched/thread_order.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

void give_way(worker& m) noexcept {
  if (current_fiber()->keeps_worker || !preemption::prepare(m)) return;
  emit_line(m, *current_fiber());
  emit_event(m, event::preempt, 0, 0, current_fiber()->number);
  come_before_thread(m);
  os::switch_context(current_fiber()->context, m.native);
  arrive_on_worker();
}

}  // namespace

void give_way_if_asked() noexcept {
  worker* const m = current_worker();
  if (m && preemption::is_asked(*m)) give_way(*m);
}

void finish_push(deque& d) noexcept {
  worker& m = *current_worker();
  if (preemption::finish_push(m, d, os::handled_exception(*m.exceptions))) give_way(m);
  os::schedule_point();
}

}}}  // namespace fj::v0_4::detail
