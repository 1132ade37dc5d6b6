#include "runtime/sched/threads.hpp"

#include <new>
#include <utility>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// The runtime whose on_worker_start the thread calls.
constinit thread_local const scheduler* starts_in = nullptr;

// The life of a worker's own thread: wait for a P, run what there is, park.
void thread_main(void* self) noexcept {
  worker& m = *static_cast<worker*>(self);
  const unsigned number = m.number - 1;
  const settings& set = m.sched().settings();
  os::name_thread("fj-", number);
  os::wake_as_usual();  // the monitor may have started it
  if (set.on_worker_start) {
    starts_in = &m.sched();
    set.on_worker_start(number);
    starts_in = nullptr;
  }
  m.thread.adopt_caller();  // not before: a waker would choose CPUs for it, and then undo what the call has pinned
  os::ensure_alternate_stack();
  os::adopt_native_stack(m.native);
  m.exceptions = &os::this_threads_exceptions();
  set_current_worker(&m);
  os::happens_before(&m);  // strands read what is the thread's own, too
  m.begin_light_fences();
  worker_loop::run(m);
  m.end_light_fences();
  set_current_worker(nullptr);  // destructors of thread_local variables run outside of any runtime
  if (set.on_worker_stop) set.on_worker_stop(number);
}

}  // namespace

bool starts_thread_of(const scheduler& s) noexcept { return starts_in == &s; }

worker* threads::start(waker then) noexcept {
  // The new thread inherits the CPUs of this one, which may have been kept off some when it was woken.
  if (worker* const starts = current_worker()) {
    const os::unseen_by_detector own;  // a strand does here what its thread does elsewhere
    scheduler_hooks::placed(*starts);
  }
  const locked lock(mutex_);
  try {
    auto m = std::make_unique<worker>(scheduler_, static_cast<unsigned>(started_.size()) + 1);
    os::happens_before(m.get());
    attend_trace(*m);
    started_.reserve(started_.size() + 1);
    const auto where = then == waker::sleeps ? os::placement::here : os::placement::elsewhere;
    fences_.add(m->fences);  // before the thread can fork
    if (m->thread.start(&thread_main, m.get(), where)) {
      started_.push_back(std::move(m));
      return started_.back().get();
    }
    fences_.remove(m->fences);
  } catch (const std::bad_alloc&) {}
  ++refused_;
  return nullptr;
}

void threads::end_rest_of_monitor() noexcept { scheduler_.monitor().attend(); }

void threads::join() noexcept {
  const locked lock(mutex_);
  for (const auto& m : started_) {
    // A worker that woke this one may still choose a CPU for it. acquire: pairs with the release in hooks.hpp:
    // end_placing
    while (m->placers.load(std::memory_order_acquire) != 0) os::yield_thread();
    m->signal();
  }
  for (const auto& m : started_) m->thread.join();
}

bool threads::heavy_fence() noexcept {
  if (scheduler_.settings().by_signal) {
    worker* const m = current_worker();
    return fences_.pass(m ? &m->fences : nullptr);
  }
  os::heavy_fence();
  return true;
}

void threads::attend_trace() noexcept {
  const locked lock(mutex_);
  for (const auto& m : started_) attend_trace(*m);
  for (const auto& m : callers_) attend_trace(*m);
}

void threads::attend_trace(worker& m) noexcept {
  tracer* const now = scheduler_.traces().now();
  trace_ring* const ring = m.trace;
  if (!now) {
    m.trace = nullptr;
  } else if (!ring || &ring->whose() != now) {
    m.trace = now->make_ring(m.number);
  }
}

worker& threads::take_caller() {
  const locked lock(mutex_);
  if (idle_callers_.empty()) {
    idle_callers_.reserve(callers_.size() + 1);  // so that giving back cannot fail
    callers_.push_back(std::make_unique<worker>(scheduler_, 0x10000 + static_cast<unsigned>(callers_.size())));
    fences_.add(callers_.back()->fences);
    os::happens_before(callers_.back().get());
    attend_trace(*callers_.back());
    return *callers_.back();
  }
  worker* const m = idle_callers_.back();
  idle_callers_.pop_back();
  return *m;
}

void threads::give_caller(worker& m) noexcept {
  const locked lock(mutex_);
  idle_callers_.push_back(&m);
}

}}}  // namespace fj::v0_4::detail
