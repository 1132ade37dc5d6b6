// What the scheduler does for threads that call run, and what it has them do. Such a thread works for the job it brought
// and for no other: with a P if one is to be had, else it sleeps until another thread has done the job.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/os/race_detector.hpp"
#include "runtime/schedule/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

bool waits_for_it(const fiber& ready) noexcept { return ready.job->thread && ready.job->thread->asleep; }

}  // namespace

// A thread that sleeps in run can work for the job it brought: for no other, or two of them could wake each other for as
// long as there are records of a third.
worker* scheduler::caller_with_records() noexcept {
  worker* found = nullptr;
  const auto look = [&](const deque& d) {
    if (found || seems_empty(d)) return;
    const auto brought_it = [&d](const worker* m) { return m->brought == d.whose(); };
    const auto at = std::find_if(sleeping_callers_.begin(), sleeping_callers_.end(), brought_it);
    if (at != sleeping_callers_.end()) found = *at;
  };
  if (sleeping_callers_.empty()) return nullptr;
  for_each_active(0, 1, look);
  for_each_detached(look);
  return found;
}

bool scheduler::any_ready_for_caller() const {
  bool any = false;
  if (!sleeping_callers_.empty()) ready_.for_each([&any](const fiber& f) { any = any || waits_for_it(f); });
  return any;
}

// With a fiber of its job if one is ready, else to look for records of it.
worker* scheduler::take_caller() noexcept {
  worker* m = nullptr;
  if (fiber* const f = pop_ready(waits_for_it)) {
    m = f->job->thread;
    m->given = f;
  } else if ((m = caller_with_records())) {
    m->spinning = true;
  }
  if (m) wake_caller(*m);
  return m;
}

void scheduler::wake_caller(worker& m) noexcept {
  std::erase(sleeping_callers_, &m);
  parking_.thread_taken();
  m.asleep = false;
}

fiber* scheduler::enter(worker& m, fiber& f) noexcept {
  std::scoped_lock guard(mutex_);
  m.held = take_idle();
  if (m.held) return &f;
  push_ready(f);  // the next worker that gives up a P finds it
  return nullptr;
}

fiber* scheduler::sleep_for(root& job, worker& m) noexcept {
  bool last_resort = false;
  {
    std::scoped_lock guard(mutex_);
    if (!idle_processors_.empty()) {
      if (fiber* const f = pop_ready([&](const fiber& item) { return item.job == &job; })) {
        m.held = take_idle();
        return f;
      }
    }
    m.asleep = true;
    sleeping_callers_.push_back(&m);
    parking_.thread_available();
    // A system that has refused threads may do so again.
    last_resort = idle_threads_.empty() && (creatable_ == 0 || ask_again_at_ != 0);
  }
  // Where there is a thread for every P, others look for records before they park. Else this one must, as in park.
  if (last_resort && !parking::nothing_left(
                         [&](auto visit) {
                           for_each_deque(0, 1, [&](deque& d) {
                             if (d.whose() == &job) visit(d);
                           });
                         },
                         chosen_.eager)) {
    std::scoped_lock guard(mutex_);
    if (m.asleep && !idle_processors_.empty()) {
      wake_caller(m);
      m.held = take_idle();
      m.spinning = true;
      parking_.start_spinning();
      m.thread.use_all_processors();  // finish may have kept it off one
      return nullptr;
    }
  }
  for (;;) {
    m.sleep();
    std::scoped_lock guard(mutex_);
    // acquire: pairs with the release in finish
    if (!m.held && !job.done.load(std::memory_order_acquire)) continue;
    m.thread.use_all_processors();
    if (m.asleep) wake_caller(m);
    return m.given.replace(nullptr);
  }
}

void scheduler::finish(root& job, worker& m) noexcept {
  worker* const thread = job.thread;
  fiber* const waiter = job.waiter;
  scheduler* const waiters = job.waiters_scheduler;
  // This worker looks for work next. If the caller knows, it need not, when it gives up its P, and comes back sooner.
  if (thread != &m) m.home().start_spinning(m);
  if (thread && thread != &m) {
    std::scoped_lock guard(m.home().mutex_);  // while it is held, who sleeps does not go on
    if (thread->asleep) thread->thread.keep_off_this_processor();
  }
  // release: pairs with the acquires in run.cpp, find_work.cpp and sleep_for, so that the caller sees the result
  job.done.store(true, std::memory_order_release);
  if (waiter) {
    const guest counted(*waiters);  // the waiter may go on and end its runtime before ready returns
    waiters->ready(*waiter);
  } else if (thread != &m) {
    thread->signal();
  }
}

worker& scheduler::take_outside_worker() {
  std::scoped_lock guard(mutex_);
  ask_again();
  if (idle_outside_.empty()) {
    idle_outside_.reserve(outside_.size() + 1);      // so that giving back cannot fail
    sleeping_callers_.reserve(outside_.size() + 1);  // nor falling asleep
    outside_.push_back(std::make_unique<worker>(*this, 0x10000 + static_cast<unsigned>(outside_.size())));
    os::publish(outside_.back().get());
    return *outside_.back();
  }
  worker* const m = idle_outside_.back();
  idle_outside_.pop_back();
  return *m;
}

void scheduler::give_outside_worker(worker& m) noexcept {
  give_back_spares(m);
  std::scoped_lock guard(mutex_);
  idle_outside_.push_back(&m);
}

}  // namespace fj::inline v0_1::detail
