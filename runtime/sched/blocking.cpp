#include "forkjoin/abi/blocking.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/blocking_protocol.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// On the native stack of a worker without a P.
fiber* go_on_with_processor(worker& m, fiber& f, void* had) noexcept {
  return blocking_protocol::go_on(m, f, *static_cast<processor*>(had));
}

// Of the thread, not of the strand. A strand that leaves its thread reads it no more.
constinit thread_local const blocking_call* innermost_call = nullptr;

[[gnu::noinline]] const blocking_call* exchange_innermost(const blocking_call* by) noexcept {
  const os::unseen_by_detector of_this_thread;  // which would take the thread's strands for threads that share it
  return std::exchange(innermost_call, by);
}

}  // namespace

scheduler& blocking_call::sched() const noexcept { return worker_->sched(); }

const blocking_call* blocking_call::innermost() noexcept { return innermost_call; }

blocking_call::blocking_call(bool at_once) noexcept : worker_(current_worker()) {
  if (!worker_) return;
  worker& m = *worker_;
  fiber& f = *current_fiber();
  deque& records = current_deque();
  f.whose = records.whose();  // a scope's child does not know yet
  f.urgent = f.whose->urgent;
  release_below(m, f);  // a thread that blocks for long keeps no stacks from others
  const bool may_lose = blocking_protocol::prepare(m, records, os::handled_exception(*m.exceptions));
  ++m.count().blocking_calls;
  f.becomes(fiber_state::blocking);
  fiber_ = &f;
  outer_ = exchange_innermost(this);
  set_current_worker(nullptr);
  set_current_fiber(nullptr);
  set_current_deque(no_deque);
  m.end_light_fences();             // nor may a signal end the call
  os::happens_after(m.exceptions);  // the call may use what belongs to its thread, as may those before it
  const bool expected = !at_once && f.lasting_calls == tuning::lasting_calls;
  if (expected) begun_ns_ = os::now_ns();
  emit_line(m, f);
  emit_event(m, event::block, at_once || expected, 0, f.number);
  call_ = blocking_protocol::begin(m, f, may_lose, at_once || expected);
}

blocking_call::~blocking_call() {
  if (!worker_) return;
  exchange_innermost(outer_);
  worker& m = *worker_;
  fiber& f = *fiber_;
  os::happens_before(m.exceptions);
  m.begin_light_fences();
  set_current_worker(&m);
  set_current_fiber(&f);
  const bool has_processor = blocking_protocol::end(m, call_);
  emit_event(m, event::unblock, !has_processor, 0, f.number);
  if (!has_processor) {
    // That it lost its P tells that it lasted, unless it gave the P up on the mere expectation.
    const bool lasted = begun_ns_ == 0 || os::now_ns() - begun_ns_ >= tuning::first_delay_ns;
    f.lasting_calls = lasted ? std::min(f.lasting_calls + 1, tuning::lasting_calls) : 0;
    leave(&go_on_with_processor, call_.had);
    return;
  }
  f.lasting_calls = 0;
  f.becomes(fiber_state::running);
  deque& records = *call_.had->active.load(std::memory_order_relaxed);
  records.set_exceptions(m.exceptions);
  set_current_deque(records);
}

}}}  // namespace fj::v0_4::detail
