#include "runtime/workers/run.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/search.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

void ended_for_caller(root& over, worker& m) noexcept {
  // This worker looks for work next. If the caller knows, it need not, when it gives up its P, and comes back sooner.
  if (over.caller != &m) m.sched().dispatcher().start_spinning(m);
  m.sched().dispatcher().finish(over, m);
}

void ended_for_fiber(root& over, worker& m) noexcept {
  fiber& waiter = *over.waiter;
  scheduler& waiters = *over.waiters_scheduler;
  m.sched().dispatcher().start_spinning(m);  // as above
  m.sched().dispatcher().finish(over, m);
  const scheduler::guest counted(waiters);  // the waiter may go on and end its runtime before ready returns
  waiter.becomes(fiber_state::runnable);
  waiters.dispatcher().ready(waiter);
}

void hand_over(worker& m, waker then) noexcept {
  release_stacks(m, 0);  // a root that never forks leaves none behind
  release_small_stacks(m);
  m.sched().dispatcher().hand_over(m, then);
}

void run_from_thread(scheduler& s, root& brought) {
  worker& m = s.threads().take_caller();
  fiber* next = s.stacks().take(nullptr);
  if (!next) {
    s.threads().give_caller(m);
    throw std::bad_alloc();
  }
  os::ensure_alternate_stack();
  os::adopt_native_stack(m.native);
  m.thread.adopt_caller();
  m.brought = &brought;
  brought.caller = &m;
  brought.ended = &ended_for_caller;
  begin(*next, {nullptr, &brought});
  m.exceptions = &os::this_threads_exceptions();
  set_current_worker(&m);
  os::happens_before(&m);  // as in thread_main
  dispatcher& d = s.dispatcher();
  d.ask_for_threads_again();
  next = d.enter(m, *next);
  for (;;) {
    if (next) execute(m, next);
    // acquire: pairs with the release in finish
    if (brought.done.load(std::memory_order_acquire)) break;
    // A strand that yielded would be found first again, though others wait for the P.
    const bool gives_way = m.yielded.replace(false) && d.lacks_processor();
    next = m.proc && !gives_way ? basic_search<system>::find_work_of(brought, m) : nullptr;
    if (next) continue;
    if (m.proc) hand_over(m, waker::sleeps);
    d.sleep_for(brought, m);
  }
  if (m.proc) hand_over(m, waker::goes_on);
  set_current_worker(nullptr);
  s.threads().give_caller(m);
}

void run_from_fiber(scheduler& s, root& brought, worker& m) {
  s.dispatcher().ask_for_threads_again();
  if (!s.dispatcher().ensure_thread())
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "forkjoin: no thread could be started for a run from inside another runtime");
  fiber* const f = s.stacks().take(nullptr);
  if (!f) throw std::bad_alloc();
  if (!prepare_to_wait_for_others(m)) {
    s.stacks().give(f);
    throw std::bad_alloc();
  }
  brought.waiter = current_fiber();
  brought.waiters_scheduler = &m.sched();
  brought.ended = &ended_for_fiber;
  begin(*f, {nullptr, &brought});
  ++m.count().suspensions;
  fiber& here = *current_fiber();
  here.waits.show({.what = "fj::runtime::run, of another runtime"});
  m.submitted = f;
  leave(
      [](worker& m, fiber&, void* to) noexcept -> fiber* {
        fiber& submitted = *m.submitted.replace(nullptr);
        scheduler& there = *static_cast<scheduler*>(to);
        // Once its fiber is ready the root may be over at any time, the frame of its call gone and the runtime destroyed.
        const scheduler::guest counted(there);
        there.dispatcher().ready(submitted);
        return nullptr;
      },
      &s);
  here.waits.hide();
  brought.done.load(std::memory_order_acquire);  // pairs with the release in finish: the result is there
}

}  // namespace

void refuse_root_of_forked_copy(const scheduler& s) {
  if (s.is_forked_copy())
    throw std::logic_error(
        "forkjoin: this runtime was made before fork(2), and its threads stayed in the parent process; make a new "
        "fj::runtime in the child");
}

void run_root(scheduler& s, root& brought) {
  refuse_root_of_forked_copy(s);
  const scheduler::root_under_way counted(s);
  if (worker* const m = current_worker()) {
    run_from_fiber(s, brought, *m);
  } else {
    run_from_thread(s, brought);
  }
}

}  // namespace fj::inline v0_1::detail
