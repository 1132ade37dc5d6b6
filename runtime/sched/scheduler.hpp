// The data that the workers of one runtime share.
#pragma once

#ifndef FORKJOIN_MACHINE  // else the machine has a scheduler of its own

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/thread_hooks.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/base/settings.hpp"
#include "runtime/fork/loose_jobs.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/allowance.hpp"
#include "runtime/sched/dispatcher.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/monitor.hpp"
#include "runtime/sched/poller.hpp"
#include "runtime/sched/processor.hpp"
#include "runtime/sched/threads.hpp"
#include "runtime/sched/worker.hpp"
#include "runtime/stacks/deque_pool.hpp"
#include "runtime/stacks/large_stacks.hpp"
#include "runtime/stacks/stack_pool.hpp"
#include "runtime/trace/tracer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler {
 public:
  /// Throws std::bad_alloc if not even the deques can be had. Starts no thread.
  explicit scheduler(const settings& set);

  /// Waits for the jobs to end and the guests to leave, then ends the threads.
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// While one lives, the scheduler does.
  class guest {
   public:
    explicit guest(scheduler& s) noexcept : guests_(s.guests_) { guests_.fetch_add(1, std::memory_order_relaxed); }
    ~guest() { guests_.fetch_sub(1, std::memory_order_release); }  // release: pairs with the acquire in is_unused
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;

   private:
    std::atomic<unsigned>& guests_;
  };

  /// From here to end_job the scheduler lives, and has work. Costs a compare-and-swap while there is another job.
  void begin_job() noexcept {
    unsigned others = jobs_.load(std::memory_order_relaxed);
    while (others != 0)
      if (jobs_.compare_exchange_weak(others, others + 1, std::memory_order_relaxed)) return;
    begin_first_job();
  }
  void end_job() noexcept {
    unsigned all = jobs_.load(std::memory_order_relaxed);
    // release: pairs with the acquire in is_unused, by which the destructor sees what the job did
    while (all > 1)
      if (jobs_.compare_exchange_weak(all, all - 1, std::memory_order_release, std::memory_order_relaxed)) return;
    end_last_job();
  }

  /// A job, while it lives.
  class job_under_way {
   public:
    explicit job_under_way(scheduler& s) noexcept : s_(s) { s_.begin_job(); }
    ~job_under_way() { s_.end_job(); }
    job_under_way(const job_under_way&) = delete;
    job_under_way& operator=(const job_under_way&) = delete;

   private:
    scheduler& s_;
  };

  /// Until what runs in it has ended.
  void wait_until_unused() const noexcept;
  /// Whether that has ended.
  bool is_unused() const noexcept;
  /// Whether jobs are under way and no P works for them.
  bool may_stand_still() const noexcept { return jobs_.load(std::memory_order_relaxed) != 0 && dispatcher_.all_idle(); }

  /// Whether this is the copy that a fork(2) made of the scheduler: its threads stayed in the parent process.
  bool is_forked_copy() const noexcept { return made_in_ != os::process_generation(); }

  /// Ends the process with a message if it is: a strand would wait for one of those threads, or do their work again.
  void refuse_forked_copy() const noexcept;

  const detail::settings& settings() const noexcept { return settings_; }
  detail::dispatcher& dispatcher() noexcept { return dispatcher_; }
  processors& all() noexcept { return processors_; }
  /// So many P are in use from now on, from 1 to all; 0: as many as the system allows, now and later.
  void use_procs(unsigned procs) noexcept;
  unsigned procs_in_use() const noexcept { return dispatcher_.in_use(); }
  detail::threads& threads() noexcept { return threads_; }
  detail::tracing& traces() noexcept { return traces_; }
  detail::monitor& monitor() noexcept { return monitor_; }
  detail::allowance& allowance() noexcept { return allowance_; }
  detail::poller& poller() noexcept { return *poller_; }
  /// For entries, which may outlive the runtime.
  const std::shared_ptr<detail::poller>& shared_poller() noexcept { return poller_; }
  stack_pool& stacks() noexcept { return stacks_; }
  /// For the fibers of fj::go.
  stack_pool& small_stacks() noexcept { return small_stacks_; }
  /// For those that ask for more than both have.
  detail::large_stacks& large_stacks() noexcept { return large_stacks_; }
  /// Calls visit(pool) for all pools of stacks.
  template <class Visit>
  void for_each_pool(Visit visit) const {
    visit(stacks_);
    visit(small_stacks_);
    large_stacks_.for_each_pool(visit);
  }
  /// Calls visit(fiber) for all fibers, whatever they do. While the runtime works, too.
  template <class Visit>
  void for_each_fiber(Visit visit) const {
    for_each_pool([&](const stack_pool& pool) { pool.for_each(visit); });
  }
  deque_pool& deques() noexcept { return deques_; }
  /// Before the first urgent fiber, and each other one. From then on operations that may give way look whether they are
  /// to.
  void begin_urgent() noexcept;
  loose_jobs& loose() noexcept { return loose_; }
  /// nullptr: none.
  // acquire: pairs with the release in hook
  thread_hooks* hooks() const noexcept { return hooks_.load(std::memory_order_acquire); }
  /// The first hooks stay; returns them.
  thread_hooks& hook(thread_hooks& wanted) noexcept {
    thread_hooks* there = nullptr;
    // release: pairs with the acquire in hooks, and with that of a call which finds other hooks here
    return hooks_.compare_exchange_strong(there, &wanted, std::memory_order_acq_rel) ? wanted : *there;
  }
  /// Held by the thief that forces records: one at a time.
  os::mutex& forcing() noexcept { return forcing_; }

  // For statistics.
  const tallies& count(unsigned proc) const noexcept { return processors_[proc].count; }
  std::uint64_t age() const noexcept;
  std::uint64_t time_working() const noexcept;
  time_alone::times times_alone() const noexcept;
  std::uint64_t threads_refused() const noexcept { return threads_.refused(); }
  std::uint64_t fences_unanswered() const noexcept { return threads_.fences_unanswered(); }
  std::uint64_t retakes_refused() const noexcept { return retakes_refused_.load(std::memory_order_relaxed); }

  /// So many blocking calls keep their P, because no thread can be had for it. The first time it says so.
  void count_refused_retakes(unsigned count) noexcept;

 private:
  friend struct layout;

  processors& with_deques();
  void begin_first_job() noexcept;
  void end_last_job() noexcept;

  const detail::settings settings_;
  const std::int64_t made_at_;
  const unsigned made_in_ = os::process_generation();
  detail::tracing traces_;           // its memory goes last
  std::atomic<unsigned> fibers_{0};  // made so far; their numbers
  stack_pool stacks_, small_stacks_;
  detail::large_stacks large_stacks_;
  deque_pool deques_;
  processors processors_;
  mutable time_alone alone_;  // a reader adds the time since the last change
  detail::threads threads_;
  const std::shared_ptr<detail::poller> poller_ = std::make_shared<detail::poller>();
  detail::dispatcher dispatcher_;
  detail::allowance allowance_{dispatcher_, settings_.procs, settings_.follows, made_at_};
  std::atomic<bool> has_been_urgent_{false};
  std::atomic<unsigned> guests_{0};
  loose_jobs loose_;
  std::atomic<std::uint64_t> retakes_refused_{0};
  detail::monitor monitor_{*this};
  std::atomic<thread_hooks*> hooks_{nullptr};
  alignas(cache_line) os::mutex forcing_;
  alignas(cache_line) std::atomic<unsigned> jobs_{0};  // under way
  os::mutex working_mutex_;                            // held where jobs_ leaves 0 or comes to 0
  stopwatch working_;                                  // while there is a job
};

}}}  // namespace fj::v0_4::detail

#endif
