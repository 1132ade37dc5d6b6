#include "forkjoin/abi/task_group.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "forkjoin/abi/maybe_yield.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/fork/job.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// The last one counts under the lock. A waiter looks at the count under the lock, too: so once it has seen zero, this
// may go.
void task_count::end() noexcept {
  std::int64_t tasks = tasks_.load(std::memory_order_relaxed);
  while (tasks > 1)
    // release: pairs with the acquire in wait
    if (tasks_.compare_exchange_weak(tasks, tasks - 1, std::memory_order_release, std::memory_order_relaxed)) return;
  claimed_waits woken;
  {
    const locked lock(guard_);
    // release: as above, if a task has begun meanwhile; acquire: pairs with the releases of the other tasks, so that
    // those that are woken here see what all have done
    if (tasks_.fetch_sub(1, std::memory_order_acq_rel) == 1) woken.claim_all(queue_);
  }
  woken.wake_all();
}

// Not analysed: wait_in frees the guard.
wait_end task_count::wait(const wait_limits& limits) FORKJOIN_UNANALYSED {
  maybe_yield();
  std::unique_lock held(guard_);
  // acquire: pairs with the releases in end
  return tasks_.load(std::memory_order_acquire) == 0 ? wait_end::served
                                                     : detail::wait_in(queue_, held, nullptr, limits);
}

void task_count::wait_surely(const wait_place& place) noexcept {
  for (;;) {
    try {
      static_cast<void>(wait({.place = place}));
      return;
    } catch (const std::bad_alloc&) {
      os::sleep_ns(tuning::refused_ns);
    }
  }
}

namespace {

/// The tasks that strands of a job have started as their children. The job itself counts as one, so that few find
/// that they are the last.
struct counted_tasks : tasks_of_job {
  counted_tasks() noexcept : tasks_of_job{&await_all} {}

  static void await_all(tasks_of_job& of) noexcept {
    auto& mine = static_cast<counted_tasks&>(of);
    mine.count.end();
    mine.count.wait_surely({.what = "the end of a function that has started tasks of a fj::task_group"});
    delete &mine;
  }

  task_count count{1};
};

counted_tasks* tasks_of(job& r) noexcept {
  // acquire, also of the failure below: pairs with the release below, so that what is pointed to is there
  if (tasks_of_job* const made = r.tasks.load(std::memory_order_acquire)) return static_cast<counted_tasks*>(made);
  auto* const mine = new (std::nothrow) counted_tasks;
  if (!mine) return nullptr;
  // release: pairs with the acquires here and in fork/job.hpp: end_rest
  tasks_of_job* before = nullptr;
  if (r.tasks.compare_exchange_strong(before, mine, std::memory_order_release, std::memory_order_acquire)) return mine;
  delete mine;
  return static_cast<counted_tasks*>(before);
}

}  // namespace

task_group_core::task_group_core(std::stop_token outer) noexcept
    : outer_(std::move(outer)), hears_outer_(outer_, passes_stop_on{*this}) {
  home = nullptr;
  task_ended = &ended;
}

task_group_core::~task_group_core() = default;

bool task_group_core::begin_child() noexcept {
  counted_tasks* const of_job = tasks_of(*current_deque().whose());
  if (!of_job) return false;
  of_job->count.begin();
  running_.begin();
  return true;
}

// The group may be gone after the first count, and the job after the second.
void task_group_core::ended(group_children& of) noexcept {
  job& r = *current_deque().whose();
  static_cast<task_group_core&>(of).running_.end();
  tasks_of(r)->count.end();
}

void task_group_core::fail(std::exception_ptr error) noexcept {
  {
    const locked lock(guard_);
    if (!error_) std::swap(error_, error);
  }
  request_stop();
}

void task_group_core::request_stop() noexcept {
  stopped_.store(true, std::memory_order_relaxed);
  std::optional<std::stop_source> source;
  {
    const locked lock(guard_);
    source = source_;
  }
  if (source) source->request_stop();
}

std::stop_token task_group_core::token() {
  std::optional<std::stop_source> source;
  {
    const locked lock(guard_);
    if (!source_) source_.emplace();
    source = source_;
  }
  if (stopped()) source->request_stop();  // without the lock: a callback of the user's may ask the group
  return source->get_token();
}

task_group_core::result task_group_core::take() noexcept {
  if (!stopped()) return {nullptr, false};  // nor has one failed
  const locked lock(guard_);
  const bool was_stopped = stopped();
  stopped_.store(false, std::memory_order_relaxed);
  source_.reset();
  return {std::exchange(error_, nullptr), was_stopped};
}

}}}  // namespace fj::v0_4::detail
