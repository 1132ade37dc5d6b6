// A job: what one call of run or of go brings into a runtime.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <stop_token>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/local.hpp"
#include "forkjoin/abi/run.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/os/context/context.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
class scheduler;
struct worker;

/// The newest value of fj::local in that list, which no other strand changes. A destructor may make new ones. False if
/// there is none.
inline bool destroy_newest(std::atomic<local_value*>& list) noexcept {
  local_value* const first = list.load(std::memory_order_acquire);  // acquire: pairs with the release in keep_local
  if (!first) return false;
  list.store(first->next, std::memory_order_relaxed);
  first->destroy(*first);
  return true;
}

/// The tasks of groups that strands of a job have started, which may outlive those strands. Its maker counts them.
struct tasks_of_job {
  void (*await)(tasks_of_job&) noexcept;  ///< waits for all of them, and frees this
};

/// Records, fibers and deques point to the job they work for. It lives until `ended` is called: in the frame of a call
/// of run that waits for it, or wherever its maker put it, and then `ended` frees it.
struct job : runnable {
  explicit job(job_body* what) noexcept : runnable(kind::job), body(what) {}

  job_body* const body;

  /// Called once by the job's own fiber, when the body has returned and no strand works for the job any more; or by the
  /// worker that should begin it, if that has no stack. The job may be gone when it returns.
  void (*ended)(job&, worker&) noexcept = nullptr;

  /// The job's first strand and every stolen part of it start with the rounding mode of the strand that made it.
  os::float_environment floats = os::get_float_environment();
  /// And in the handler that it was made in, if there is one.
  void* handled = os::handled_exception(os::this_threads_exceptions());

  /// The call of go that made it, for reports. Set before its fiber begins.
  std::source_location started_at = {};

  /// Whether its strands go before others when they become ready (sched/urgent.hpp). Set before its fiber begins.
  bool urgent = false;

  /// Its part of the ready queue. Under the dispatcher's mutex.
  job_runnables ready;

  /// The thread that called run and waits, or nullptr.
  worker* caller = nullptr;
  /// Else the fiber of another runtime that waits, and that runtime.
  fiber* waiter = nullptr;
  scheduler* waiters_scheduler = nullptr;
  /// Whether it has ended without a call: the system refused a stack.
  bool refused = false;
  /// Of a scheduled call, whose memory may end once a fiber has begun with it: that fiber works for a copy on its own
  /// stack (sched/switch.cpp: run_scheduled). It is never refused: it waits for a stack.
  bool scheduled = false;

  /// Of a job that fj::go made, if its fiber takes a token: asked to stop when its future or the end of its runtime
  /// says so.
  std::stop_source* stop = nullptr;
  list_links<job> in_loose;

  /// nullptr until the first task.
  std::atomic<tasks_of_job*> tasks{nullptr};

  /// Values of fj::local, which end with the job.
  std::atomic<local_value*> locals{nullptr};

  /// By its own fiber, when its body has returned: waits for its tasks, and destroys its values. A value's destructor
  /// may start tasks, and they may make values: so no value is destroyed while tasks run.
  void end_rest() noexcept {
    for (;;) {
      // acquire: pairs with the release in wait/task_group.cpp: tasks_of
      if (tasks_of_job* const of_groups = tasks.load(std::memory_order_acquire)) [[unlikely]] {
        of_groups->await(*of_groups);
        tasks.store(nullptr, std::memory_order_relaxed);  // no other strand works for the job now
      }
      if (!destroy_newest(locals)) return;
    }
  }

  /// Whether the caller may go on: release after everything that was done for the job, acquire by the caller.
  std::atomic<bool> done{false};
};

}}}  // namespace fj::v0_4::detail
