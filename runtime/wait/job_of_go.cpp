#include "runtime/wait/job_of_go.hpp"

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/task_group.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/run.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// The message of the C++ runtime says which exception it was, as for one that leaves a thread.
[[noreturn]] void terminate_with(const std::exception_ptr& error) noexcept {
  os::print_error(
      "forkjoin: an exception left a fiber whose future was dropped; keep the future and call get, or catch it\n");
  std::rethrow_exception(error);
}

}  // namespace

job_of_go::job_of_go(go_job& its_job) noexcept : job(&its_job), holder(its_job) {
  handled = nullptr;  // the handler that go is called in ends before the fiber does
  ended = &end;
  if (its_job.stop_) stop = &*its_job.stop_;
}

job_of_go& job_of_go::in(go_job& its_job) noexcept {
  static_assert(sizeof(job_of_go) <= sizeof its_job.job_ && alignof(job_of_go) <= 8);
  return *std::launder(reinterpret_cast<job_of_go*>(its_job.job_));
}

const job_of_go* job_of_go::of(const job& r) noexcept {
  return r.ended == &end ? static_cast<const job_of_go*>(&r) : nullptr;
}

void job_of_go::end(job& self, worker& m) noexcept {
  auto& mine = static_cast<job_of_go&>(self);
  scheduler& s = *mine.runs_in;
  if (mine.stop) s.loose().remove(mine);
  s.dispatcher().finish(mine, m);
  task_count* const counted = mine.counted_in;
  go_job& holder = mine.holder;
  holder.wake_waiters();
  holder.release();
  // After both: a strand that has waited for the count finds the future ready, and nothing left of a dropped one.
  if (counted) counted->end();
  s.end_job();
}

go_job::go_job(function what, bool takes_stop) : job_body(what) {
  if (takes_stop) stop_.emplace();
  ::new (static_cast<void*>(job_)) job_of_go(*this);
}

void go_job::destroy_job() noexcept {
  job_of_go& mine = job_of_go::in(*this);
  mine.end_rest();
  std::destroy_at(&mine);
}

void go_job::start(scheduler& s, std::size_t stack_size, task_count* counted) {
  maybe_yield();
  if (stack_size > large_stacks::most)
    throw std::invalid_argument("fj::go: go_options::stack_size is " + std::to_string(stack_size) +
                                " bytes; set it to at most " + std::to_string(large_stacks::most) +
                                ", or to 0 for options::go_stack_size");
  refuse_job(s);
  s.dispatcher().ask_for_threads_again();
  if (!s.dispatcher().ensure_thread())
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "forkjoin: no thread could be started for fj::go");
  fiber* const f = take_go_stack(s, stack_size);
  if (!f) throw std::bad_alloc();
  job_of_go& mine = job_of_go::in(*this);
  mine.runs_in = &s;
  owners_.fetch_add(1, std::memory_order_relaxed);
  if (counted) counted->begin();
  mine.counted_in = counted;
  s.begin_job();
  if (stop_ && !s.loose().add(mine)) stop_->request_stop();  // the runtime ends
  mine.started_at = started_at;
  mine.urgent = urgent;
  if (urgent) s.begin_urgent();
  begin(*f, {nullptr, &mine});
  emit_birth(s, *f);
  s.monitor().watch();  // the fiber may wait for a P; without a monitor it waits until that P's strand leaves
  make_ready(s, *f);
}

void go_job::wake_waiters() noexcept {
  claimed_waits woken;
  {
    const locked lock(mutex_);
    // release: pairs with the acquire in forkjoin/abi/go_job.hpp: ended_already
    ended_.store(true, std::memory_order_release);
    woken.claim_all(waiting_);
  }
  woken.wake_all();
}

void go_job::complete() noexcept {
  has_fiber_ = false;
  wake_waiters();
  release();
}

void go_job::make_case(select_case& c) noexcept {
  c.lock = &mutex_;
  c.queue = &waiting_;
  c.state = this;
  c.attempt = [](select_case& of) noexcept {
    return channel_attempt{.done = static_cast<go_job*>(of.state)->ended_already()};
  };
}

wait_end go_job::wait(const wait_limits& limits) {
  maybe_yield();
  if (ended_already()) return wait_end::served;
  detail::waiter here(limits);
  wait_entry entry(here);
  {
    const locked lock(mutex_);
    if (ended_already()) return wait_end::served;
    waiting_.push(entry);
  }
  const wait_end end = detail::waiter::end_by(here.wait());
  if (end == wait_end::served) return end;
  const locked lock(mutex_);
  waiting_.remove_if_queued(entry);
  return ended_already() ? wait_end::served : end;
}

// Not by std::move, after which that of libc++ is as before.
std::exception_ptr go_job::take_error() noexcept { return std::exchange(error_, nullptr); }

// The last owner finds what the fiber threw, if no get took it.
void go_job::release() noexcept {
  // acq_rel: pairs with the same of the other owners: the last one sees what they did before they let go
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (error_ && has_fiber_) terminate_with(error_);
  delete this;
}

void yield_strand() noexcept {
  worker* const m = current_worker();
  if (!m) return os::yield_thread();
  m->sched().monitor().watch();
  if (!may_leave()) return;
  ++m->count().suspensions;
  emit_wait(*m, {.what = "fj::yield"});
  leave([](worker& on, fiber& f, void*) noexcept { return caller_loop::yield(on, f); }, nullptr);
}

}}}  // namespace fj::v0_4::detail
