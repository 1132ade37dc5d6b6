#include "runtime/slow/give_way.hpp"

#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/context/context.hpp"
#include "runtime/schedule/loops/caller_loop.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"
#include "runtime/workers/thread_order.hpp"

namespace fj::inline v0_1::detail {

namespace {

// On the native stack.
fiber* go_behind_others(worker& m, fiber& f, void*) noexcept { return basic_caller_loop<system>::yield(m, f); }

void give_way(worker& m) noexcept {
  if (m.sched().is_forked_copy() || !prepare_to_wait_for_others(m)) return;
  ++m.count().preemptions;
  // A thief that exposes must take nothing, nor look for exceptions on a thread that the strand has left.
  deque& d = current_deque();
  if (d.has_private()) d.hide_exceptions(os::between_handlers);
  m.carries = true;
  m.then = &go_behind_others;
  come_before_thread(m);
  os::switch_context(current_fiber()->context, m.native);
  arrive_on_worker();
}

bool is_asked(const worker& m) noexcept { return m.proc->yield_request.concerns(m.proc->runs); }

}  // namespace

void give_way_if_asked() noexcept {
  worker* const m = current_worker();
  if (m && is_asked(*m)) give_way(*m);
}

void give_way_at_fork() noexcept {
  worker& m = *current_worker();
  if (m.sched().settings().chaos != 0) current_deque().alarm();  // the next push comes here, too
  if (is_asked(m) || m.proc->chaos.once_in(tuning::forks_per_chaotic_yield)) give_way(m);
}

}  // namespace fj::inline v0_1::detail
