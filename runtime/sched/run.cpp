#include "runtime/sched/run.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include "forkjoin/abi/os/race_detector.hpp"
#include "forkjoin/abi/run.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

void ended_for_fiber(job& over, worker& m) noexcept {
  fiber& waiter = *over.waiter;
  scheduler& waiters = *over.waiters_scheduler;
  m.sched().dispatcher().start_spinning(m);  // as in caller_loop::end
  m.sched().dispatcher().finish(over, m);
  waiter.becomes(fiber_state::runnable);
  emit_ready(waiters, waiter);
  make_ready(waiters, waiter);
}

void run_from_thread(scheduler& s, job& brought) {
  worker& m = s.threads().take_caller();
  fiber* const first = s.stacks().take(nullptr);
  if (!first) {
    s.threads().give_caller(m);
    throw std::bad_alloc();
  }
  os::ensure_alternate_stack();
  os::adopt_native_stack(m.native);
  m.thread.adopt_caller();
  m.brought = &brought;
  brought.caller = &m;
  brought.ended = &caller_loop::end;
  begin(*first, {nullptr, &brought});
  m.exceptions = &os::this_threads_exceptions();
  set_current_worker(&m);
  emit_event(m, event::job, reinterpret_cast<std::uintptr_t>(brought.body->call));
  emit_birth(s, *first);
  os::happens_before(&m);  // as in thread_main
  m.begin_light_fences();
  caller_loop::run(brought, m, *first);
  if (m.pace.has_woken()) m.pace.ends(os::now_ns());
  m.end_light_fences();
  emit_event(m, event::job_end);
  if (thread_hooks* const hooks = s.hooks()) hooks->rests(m.hooks_seen, false);
  set_current_worker(nullptr);
  s.threads().give_caller(m);
}

void run_from_fiber(scheduler& s, job& brought, worker& m) {
  s.dispatcher().ask_for_threads_again();
  if (!s.dispatcher().ensure_thread())
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "forkjoin: no thread could be started for a run from inside another runtime");
  if (!prepare_to_wait_for_others(m)) throw std::bad_alloc();
  brought.waiter = current_fiber();
  brought.waiters_scheduler = &m.sched();
  brought.ended = &ended_for_fiber;
  ++m.count().suspensions;
  fiber& here = *current_fiber();
  const wait_place place{.what = "fj::runtime::run, of another runtime"};
  here.waits.show(place);
  emit_wait(m, place);
  m.submitted = &brought;
  leave(
      [](worker& m, fiber&, void* to) noexcept -> fiber* {
        job& submitted = *m.submitted.replace(nullptr);
        scheduler& there = *static_cast<scheduler*>(to);
        // Once the job is ready it may be over at any time, the frame of its call gone and the runtime destroyed.
        const scheduler::guest counted(there);
        there.dispatcher().ready(submitted);
        return nullptr;
      },
      &s);
  here.waits.hide();
  // acquire: pairs with the release in dispatcher.hpp: finish, so that the result is there
  brought.done.load(std::memory_order_acquire);
  if (brought.refused) throw std::bad_alloc();
}

}  // namespace

void refuse_job(const scheduler& s) {
  if (s.is_forked_copy())
    throw std::logic_error(
        "forkjoin: this runtime was made before fork(2), and its threads stayed in the parent process; make a new "
        "fj::runtime in the child");
  if (starts_thread_of(s))
    throw std::logic_error(
        "forkjoin: options::on_worker_start must not enter its own runtime, which may wait for this very thread");
  if (s.settings().in_turns && !os::turns::self())
    throw std::logic_error(
        "forkjoin: the threads of this runtime take turns, as a schedule was asked for (options::schedule or "
        "FORKJOIN_SCHEDULE), and this thread takes none; call from the thread that made the runtime");
}

void run_job(scheduler& s, job_body& brought) {
  refuse_job(s);
  const scheduler::job_under_way counted(s);
  job whole(&brought);
  if (worker* const m = current_worker()) {
    run_from_fiber(s, whole, *m);
  } else {
    run_from_thread(s, whole);
  }
}

}}}  // namespace fj::v0_4::detail
