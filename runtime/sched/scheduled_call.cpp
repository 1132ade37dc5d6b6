#include "forkjoin/abi/scheduled_call.hpp"

#include <cstdlib>
#include <exception>
#include <new>
#include <type_traits>

#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/fork/job.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/sched/run.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

void call_ended(job& over, worker& m) noexcept {
  scheduler& s = m.sched();
  s.dispatcher().finish(over, m);
  s.end_job();
}

void refuse_or_end(const scheduler& s) noexcept {
  try {
    refuse_job(s);
  } catch (const std::exception& e) {
    os::print_error(e.what());
    os::print_error("\n");
    std::abort();
  }
}

}  // namespace

void scheduled_call::start(scheduler& s) noexcept {
  static_assert(sizeof(job) <= sizeof memory_ && alignof(job) <= 8 && std::is_trivially_destructible_v<job>);
  refuse_or_end(s);
  s.dispatcher().ask_for_threads_again();
  while (!s.dispatcher().ensure_thread()) {
    os::sleep_ns(tuning::refused_ns);
    s.dispatcher().ask_for_threads_again();
  }
  job& queued = *::new (static_cast<void*>(memory_)) job(&body_);
  queued.handled = nullptr;  // the handler that it is started in may end before
  queued.ended = &call_ended;
  queued.scheduled = true;
  s.begin_job();
  s.monitor().watch();  // it may wait for a P; without a monitor it waits until a strand leaves one
  const worker* const m = current_worker();
  const bool by_worker = m && &m->sched() == &s;
  if (by_worker && !m->is_caller()) return s.dispatcher().ready(queued);
  const scheduler::guest counted(s);  // the call may be over and its runtime ended before ready returns
  by_worker ? s.dispatcher().ready(queued) : s.dispatcher().ready_soon(queued);
}

}}}  // namespace fj::v0_4::detail
