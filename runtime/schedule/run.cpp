#include "runtime/schedule/run.hpp"

#include <new>
#include <system_error>

#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/execute.hpp"
#include "runtime/schedule/find_work.hpp"

namespace fj::inline v0_1::detail {

namespace {

void run_from_thread(scheduler& s, root& job) {
  worker& m = s.take_outside_worker();
  fiber* next = s.stacks().take(nullptr);
  if (!next) {
    s.give_outside_worker(m);
    throw std::bad_alloc();
  }
  os::ensure_alternate_stack();
  os::adopt_native_stack(m.native);
  m.thread.adopt_caller();
  job.thread = &m;
  m.brought = &job;
  begin(*next, {nullptr, &job});
  m.exceptions = &os::this_threads_exceptions();
  set_current_worker(&m);
  os::publish(&m);  // as in thread_main
  next = s.enter(m, *next);
  for (;;) {
    if (next) execute(m, next);
    // acquire: pairs with the release in finish
    if (job.done.load(std::memory_order_acquire)) break;
    next = nullptr;
    if (m.held) {
      next = find_work_of(job, m);
      if (next) continue;
      s.hand_over(m, scheduler::waker::sleeps);
    }
    next = s.sleep_for(job, m);
  }
  if (m.held) s.hand_over(m, scheduler::waker::goes_on);
  set_current_worker(nullptr);
  s.give_outside_worker(m);
}

void run_from_fiber(scheduler& s, root& job, worker& m) {
  if (!s.ensure_thread())
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "forkjoin: no thread could be started for a run from inside another runtime");
  fiber* const f = s.stacks().take(nullptr);
  if (!f) throw std::bad_alloc();
  if (!prepare_to_wait_for_others(m)) {
    s.stacks().give(f);
    throw std::bad_alloc();
  }
  job.waiter = m.running;
  job.waiters_scheduler = &m.home();
  begin(*f, {nullptr, &job});
  ++m.count().suspensions;
  m.submitted = f;
  leave(
      [](worker& m, fiber&, void* to) noexcept -> fiber* {
        fiber& submitted = *m.submitted.replace(nullptr);
        scheduler& there = *static_cast<scheduler*>(to);
        // Once the job is ready it may be over at any time, the frame of its call gone and the runtime destroyed.
        const scheduler::guest counted(there);
        there.ready(submitted);
        return nullptr;
      },
      &s);
  job.done.load(std::memory_order_acquire);  // pairs with the release in finish: the result is there
}

}  // namespace

void run(scheduler& s, root& job) {
  const scheduler::guest counted(s);
  const scheduler::job_time timed(s);
  if (worker* const m = current_worker()) {
    run_from_fiber(s, job, *m);
  } else {
    run_from_thread(s, job);
  }
}

}  // namespace fj::inline v0_1::detail
