#include "runtime/schedule/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <numeric>
#include <span>
#include <utility>

#include "runtime/os/clock.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/race_detector.hpp"

namespace fj::inline v0_1::detail {
namespace {

constexpr std::int64_t time_between_refusals_ns = 100'000'000;  // a refused thread costs some 10 us

}  // namespace

scheduler::scheduler(const settings& chosen, thread_function thread_main)
    : chosen_(chosen),
      made_at_(os::now_ns()),
      thread_main_(thread_main),
      stacks_(chosen.stack_size),
      deques_(chosen.stack_size, chosen.eager),
      processors_(new processor[chosen.procs]),
      creatable_(chosen.max_workers) {
  for (unsigned i = 0; i < chosen_.procs; ++i) {
    deque* const d = deques_.take();
    if (!d) throw std::bad_alloc();
    processors_[i].index = i;
    processors_[i].active.store(d, std::memory_order_relaxed);
    if (std::gcd(i + 1, chosen_.procs) == 1) steps_.push_back(i + 1);
  }
  for (unsigned i = chosen_.procs; i-- > 0;) put_idle(processors_[i]);
  parking_.thread_available(static_cast<int>(creatable_));
}

scheduler::~scheduler() {
  // acquire: pairs with the release of a guest
  while (guests_.load(std::memory_order_acquire) != 0) os::yield_thread();
  {
    std::scoped_lock guard(mutex_);
    stopping_ = true;
  }
  for (const auto& m : threads_) m->signal();
  for (const auto& m : threads_) m->thread.join();
  for (const auto& m : threads_) give_back_spares(*m);
  os::observe(this);
}

void scheduler::refuse_forked_copy() const noexcept {
  if (!is_forked_copy()) return;
  os::print_error(
      "forkjoin: fork(2) was called by code that runs in a runtime, and the child process went on there, where the "
      "other threads are missing; in the child call exec or _exit, or make a new fj::runtime on a thread of its "
      "own.\n");
  std::abort();
}

void scheduler::give_back_stacks(worker& m, std::size_t but) noexcept {
  while (m.stacks.count() > but) stacks_.give(&m.stacks.pop());
}

void scheduler::give_back_spares(worker& m) noexcept {
  give_back_stacks(m, 0);
  give_back_spare_deque(m);
}

void scheduler::give_back_spare_deque(worker& m) noexcept {
  if (m.spare_deque) deques_.give(m.spare_deque.replace(nullptr));
}

std::uint64_t scheduler::age() const noexcept { return static_cast<std::uint64_t>(os::now_ns() - made_at_); }

std::uint64_t scheduler::time_with_jobs() const noexcept { return with_jobs_.read(&os::now_ns); }

void scheduler::count_job(bool begins) noexcept {
  std::scoped_lock guard(mutex_);
  if (begins && jobs_++ == 0) with_jobs_.start(os::now_ns());
  if (!begins && --jobs_ == 0) with_jobs_.stop(os::now_ns());
}

// Work

void scheduler::ready(fiber& f) noexcept {
  {
    std::scoped_lock guard(mutex_);
    push_ready(f);
  }
  wake();
}

void scheduler::push_ready(fiber& f) noexcept {
  ready_.push(&f);
  // seq_cst: count up, then read idle and spinning (wake); a worker that parks announces itself, then reads this
  ready_count_.fetch_add(1, std::memory_order_seq_cst);
}

fiber* scheduler::take_ready(const root* only) noexcept {
  if (!any_ready()) return nullptr;
  std::scoped_lock guard(mutex_);
  return pop_ready([only](const fiber& f) { return !only || f.job == only; });
}

void scheduler::detach(fiber& f) noexcept {
  std::scoped_lock guard(mutex_);
  f.next_detached = std::exchange(detached_, &f);
  f.detached_link = &detached_;
  if (f.next_detached) f.next_detached->detached_link = &f.next_detached;
  // seq_cst: before the P drops the deque, so that a worker about to park finds it in one place or the other
  detached_count_.fetch_add(1, std::memory_order_seq_cst);
}

void scheduler::attach(fiber& f) noexcept {
  std::scoped_lock guard(mutex_);
  if (f.detached_link) unlink_detached(f);
  f.records = nullptr;
}

void scheduler::unlink_detached(fiber& f) noexcept {
  *f.detached_link = f.next_detached;
  if (f.next_detached) f.next_detached->detached_link = f.detached_link;
  f.detached_link = nullptr;
  detached_count_.fetch_sub(1, std::memory_order_relaxed);
}

void scheduler::expose(worker& m) noexcept {
  if (chosen_.eager || !exposing_.try_lock()) return;
  // First the deques, then the guards: to go through the deques may take the mutex, and while a guard is up its owner
  // waits for this thread. Deques are not freed while the runtime lives, and one that is another's by then will do, too.
  std::array<deque*, 64> chosen;
  std::size_t count = 0;
  for_each_deque(m.dice.below(chosen_.procs), 1, [&](deque& d) {
    if (count < chosen.size() && d.has_private()) chosen[count++] = &d;
  });
  const auto begun = std::span(chosen).first(count);
  const auto end = std::partition(begun.begin(), begun.end(), [](deque* d) { return d->expose_begin(); });
  if (end != begun.begin()) machine::heavy_fence();
  std::for_each(begun.begin(), end, [&m](deque* d) {
    if (!d->expose_end(&os::handles_any)) return;
    ++m.count().exposures;
    m.count().most_public.raise_to(d->public_count());
  });
  exposing_.unlock();
}

// Who works

processor* scheduler::take_idle() noexcept {
  processor* const p = idle_processors_.pop();
  if (p) parking_.processor_taken();
  return p;
}

void scheduler::put_idle(processor& p) noexcept {
  p.count.begin_idle(os::now_ns());
  idle_processors_.push(&p);
  parking_.processor_idle();
}

worker* scheduler::take_thread() noexcept {
  if (idle_threads_.empty()) return start_thread();
  worker* const m = idle_threads_.back();
  idle_threads_.pop_back();
  parking_.thread_taken();
  return m;
}

worker* scheduler::start_thread() noexcept {
  if (creatable_ == 0) return nullptr;
  try {
    auto m = std::make_unique<worker>(*this, static_cast<unsigned>(threads_.size()) + 1);
    os::publish(m.get());
    threads_.reserve(threads_.size() + 1);
    idle_threads_.reserve(threads_.size() + 1);  // so that going to sleep cannot fail
    // It sleeps first, until signalled with a P.
    if (m->thread.start(thread_main_, m.get())) {
      --creatable_;
      parking_.thread_taken();
      threads_.push_back(std::move(m));
      return threads_.back().get();
    }
  } catch (const std::bad_alloc&) {}
  // The system gives no more: go on with the threads there are.
  ++refused_;
  parking_.thread_taken(static_cast<int>(creatable_));
  creatable_ = 0;
  ask_again_at_ = os::now_ns() + time_between_refusals_ns;
  return nullptr;
}

// What the system refused, for want of memory or by a limit that other threads share, it may give later: to a later job, as
// its first fork sees who could be woken.
void scheduler::ask_again() noexcept {
  const auto lacking = chosen_.max_workers - static_cast<unsigned>(threads_.size());
  if (creatable_ != 0 || lacking == 0 || os::now_ns() < ask_again_at_) return;
  creatable_ = lacking;
  parking_.thread_available(static_cast<int>(lacking));
}

bool scheduler::ensure_thread() noexcept {
  std::scoped_lock guard(mutex_);
  ask_again();
  if (!threads_.empty()) return true;
  worker* const m = start_thread();
  if (!m) return false;
  idle_threads_.push_back(m);
  parking_.thread_available();
  return true;
}

bool scheduler::thread_for_ready() const { return !idle_threads_.empty() || creatable_ > 0 || any_ready_for_caller(); }

bool scheduler::lacks_processor() noexcept {
  if (!any_ready() || parking_.idle() > 0) return false;
  std::scoped_lock guard(mutex_);
  return idle_processors_.empty() && thread_for_ready();
}

void scheduler::wake(waker then) noexcept {
  while (parking_.begin_waking()) {
    worker* woken = nullptr;
    bool spins = false;
    {
      std::scoped_lock guard(mutex_);
      if (processor* const p = take_idle()) {
        woken = take_thread();
        if (woken) {
          woken->spinning = true;
        } else {
          woken = take_caller();
        }
        if (woken) {
          spins = woken->spinning;
          woken->held = p;
          ++p->count.wakeups;
          // While the mutex is held a caller of run, whose job may be over, does not go on.
          if (then == waker::sleeps) {
            woken->thread.leave_it_this_processor();
          } else {
            woken->thread.keep_off_this_processor();
          }
        } else {
          put_idle(*p);
        }
      }
    }
    if (woken) woken->signal();
    if (spins) return;
    // No worker spins after all, but others may have relied on it since begin_waking: look again, unless there is no
    // thread that could be woken.
    parking_.stop_spinning();
    if (woken) continue;
    machine::fence();  // stop_spinning, then looking at the deques: pairs with the fence in attend
    std::scoped_lock guard(mutex_);
    if (!thread_for_ready() && !caller_with_records()) return;
  }
}

after_park scheduler::park(worker& m) noexcept {
  give_back_stacks(m, 1);  // while it sleeps nobody else could use them
  give_back_spare_deque(m);
  bool was_spinning = false;
  {
    std::scoped_lock guard(mutex_);
    if (!ready_.empty()) return after_park::work;
    if (m.held) {
      ++m.count().parks;
      put_idle(*m.held.replace(nullptr));
    }
    was_spinning = m.spinning.replace(false);
    if (stopping_) return after_park::end;
    idle_threads_.push_back(&m);
    parking_.thread_available();
  }
  // From here on the worker may be given a P at any time.
  if (was_spinning) parking_.stop_spinning();
  if (!work_left()) return after_park::sleep;
  std::scoped_lock guard(mutex_);
  if (m.held || idle_processors_.empty()) return after_park::sleep;
  m.held = take_idle();
  std::erase(idle_threads_, &m);
  parking_.thread_taken();
  m.spinning = true;
  parking_.start_spinning();
  return after_park::work;
}

// After a P has been given up: whether there is anything to do for it.
bool scheduler::work_left() noexcept {
  if (any_ready()) return true;
  // With every P idle nobody forks, and the first fork of whoever takes one attends and sees who sleeps.
  if (parking_.idle() == static_cast<int>(chosen_.procs) && detached() == 0) return false;
  return !parking::nothing_left([this](auto visit) { for_each_deque(0, 1, visit); }, chosen_.eager);
}

void scheduler::hand_over(worker& m, waker then) noexcept {
  give_back_spare_deque(m);  // who has no P must not have the roomless one that is meant for another
  {
    std::scoped_lock guard(mutex_);
    put_idle(*m.held.replace(nullptr));
  }
  if (m.spinning.replace(false)) parking_.stop_spinning();
  // As in park. Not without a look: a thread woken for nothing would hold the P when its next job comes, and the kernel may
  // well have put it on that job's processor.
  if (parking_.should_wake() && work_left()) wake(then);
}

void scheduler::start_spinning(worker& m) noexcept {
  if (!m.spinning.replace(true)) parking_.start_spinning();
}

void scheduler::stop_spinning(worker& m) noexcept {
  if (!m.spinning.replace(false)) return;
  parking_.stop_spinning();
  // Nobody was woken while this one spun: there may be more work than it found.
  wake();
}

}  // namespace fj::inline v0_1::detail
