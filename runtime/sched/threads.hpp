// The threads of one runtime: those that it starts, and those that call run.
#pragma once

#include <memory>
#include <vector>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/sched/fence_by_signal.hpp"
#include "runtime/sched/worker.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

enum class waker;  // hooks.hpp, which includes this file

/// Whether the calling thread is in the call of options::on_worker_start of that runtime.
bool starts_thread_of(const scheduler& s) noexcept;

class threads {
 public:
  explicit threads(scheduler& whose) noexcept : scheduler_(whose) {}

  /// A new thread, which sleeps until it is signaled; nullptr if the system refuses it. Takes about 50 us. `then`: what
  /// the calling thread does next; if it sleeps, it leaves its CPU to the new one.
  worker* start(waker then) noexcept;

  /// After the dispatcher has noted that one was refused: the monitor asks for it again.
  void end_rest_of_monitor() noexcept;

  /// Signals all that were started, and waits until they have ended. The dispatcher has been told to stop.
  void join() noexcept;

  /// Calls visit(worker) for each thread that was started, and each that calls run or has called it.
  template <class Visit>
  void for_each(Visit visit) FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    for (const auto& m : started_) visit(*m);
    for (const auto& m : callers_) visit(*m);
  }

  /// From now on the events of all threads go to the present trace, if there is one.
  void attend_trace() noexcept FORKJOIN_EXCLUDES(mutex_);

  /// The heavy fence, for light ones of these threads. False if one of them may not have passed it: see
  /// fence_by_signal.hpp.
  bool heavy_fence() noexcept;
  /// How often that was so.
  std::uint64_t fences_unanswered() const noexcept { return fences_.unanswered(); }

  /// How often the system refused a thread.
  std::uint64_t refused() const noexcept { return refused_.read(); }

  /// For a thread that calls run. Throws std::bad_alloc.
  worker& take_caller();
  void give_caller(worker& m) noexcept;

 private:
  void attend_trace(worker& m) noexcept;

  scheduler& scheduler_;
  os::mutex mutex_;
  std::vector<std::unique_ptr<worker>> started_ FORKJOIN_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<worker>> callers_ FORKJOIN_GUARDED_BY(mutex_);
  std::vector<worker*> idle_callers_ FORKJOIN_GUARDED_BY(mutex_);
  tally refused_;
  fence_by_signal fences_;
};

}}}  // namespace fj::v0_4::detail
