// What the workers of one runtime share: who is idle, what is ready, and all that is pooled.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../base/list.hpp"
#include "../os/machine.hpp"
#include "../os/thread.hpp"
#include "../stacks/deque_pool.hpp"
#include "../stacks/fiber.hpp"
#include "../stacks/stack_pool.hpp"
#include "parking.hpp"
#include "processor.hpp"
#include "worker.hpp"

namespace fj::inline v0_1::detail {

using parking = basic_parking<machine>;

/// As fj::options, with every default resolved and every value checked.
struct settings {
  unsigned procs = 1;
  unsigned max_workers = 1;
  std::size_t stack_size = 0;
  bool steal_every_fork = false;
  bool thread_order = false;
  bool eager = false;  ///< no membarrier: everything public at once
};

/// What a worker does after park.
enum class after_park { work, sleep, end };

class scheduler {
 public:
  using thread_function = void (*)(void* worker) noexcept;

  /// Throws std::bad_alloc if not even the deques can be had. Starts no thread; those to come run `thread_main`.
  scheduler(const settings& chosen, thread_function thread_main);

  /// Waits for the guests to leave, then ends the threads.
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// While one lives, the scheduler does.
  class guest {
   public:
    explicit guest(scheduler& s) noexcept : guests_(s.guests_) { guests_.fetch_add(1, std::memory_order_relaxed); }
    ~guest() { guests_.fetch_sub(1, std::memory_order_release); }  // release: pairs with the scheduler's destructor
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;

   private:
    std::atomic<unsigned>& guests_;
  };

  /// While one lives, the runtime has a job.
  class job_time {
   public:
    explicit job_time(scheduler& s) noexcept : s_(s) { s_.count_job(true); }
    ~job_time() { s_.count_job(false); }
    job_time(const job_time&) = delete;
    job_time& operator=(const job_time&) = delete;

   private:
    scheduler& s_;
  };

  // Work

  /// Makes a fiber runnable, and wakes somebody for it if need be.
  void ready(fiber& f) noexcept;

  /// The fiber that has been ready longest, of that job alone unless nullptr. nullptr if there is none.
  fiber* take_ready(const root* only) noexcept;

  bool any_ready() const noexcept { return ready_count_.load(std::memory_order_seq_cst) != 0; }

  /// Whether something is ready for which no P is idle, though there is a thread that would run it.
  bool lacks_processor() noexcept;

  /// Takes note of a fiber that suspends with records in its deque, so that thieves find them. Before the P drops it.
  void detach(fiber& f) noexcept;

  /// The opposite, once the deque is some P's active one again.
  void attach(fiber& f) noexcept;

  /// Calls visit(deque) for all that may hold records: the active ones, starting with P number `first` and going on in
  /// steps of `step`, which has no divisor in common with procs (see steps); then the detached ones.
  template <class Visit>
  void for_each_deque(unsigned first, unsigned step, Visit visit) {
    for_each_active(first, step, visit);
    if (detached() == 0) return;
    std::scoped_lock guard(mutex_);
    for_each_detached(visit);
  }

  /// How many deques that fibers took along are to be looked at; a hint.
  std::size_t detached() const noexcept { return detached_count_.load(std::memory_order_seq_cst); }

  /// The numbers up to procs that have no divisor in common with it.
  const std::vector<unsigned>& steps() const noexcept { return steps_; }

  /// Makes private records public by force, for a thief that sees them but gets none.
  void expose(worker& m) noexcept;

  // Who works

  /// What the thread that wakes another does next: which processor is free for the other depends on it.
  enum class waker { goes_on, sleeps };

  /// Wakes or starts a worker if some P is idle and nobody spins.
  void wake(waker then = waker::goes_on) noexcept;

  /// The worker looks for work from now on: nobody else needs to be woken for what it may find.
  void start_spinning(worker& m) noexcept;

  /// It found something, if it looked at all; somebody else looks in its place if need be.
  void stop_spinning(worker& m) noexcept;

  /// Gives up the P of a worker that found nothing to do, unless there is something after all.
  after_park park(worker& m) noexcept;

  /// Gives up the P of a thread that goes back to its caller or waits for its job; others take over what there is.
  void hand_over(worker& m, waker then) noexcept;

  /// A P for a thread that brings a job, and `f` back to run on it; without a P, `f` is ready for others, and nullptr.
  fiber* enter(worker& m, fiber& f) noexcept;

  /// Sleeps until the job is over, or until there is a P for the worker, with a fiber of that job to run on it or, if
  /// nullptr, to look for records of it.
  fiber* sleep_for(root& job, worker& m) noexcept;

  /// Says that a job is over to whoever waits for it; by the job's own fiber. The job may be gone when this returns.
  static void finish(root& job, worker& m) noexcept;

  /// Whether there is a thread of the scheduler's own; tries to start one if not.
  bool ensure_thread() noexcept;

  /// For a thread that calls run. Throws std::bad_alloc.
  worker& take_outside_worker();
  void give_outside_worker(worker& m) noexcept;

  /// Whether this is the copy that a fork(2) made of the scheduler: its threads stayed in the parent process.
  bool is_forked_copy() const noexcept { return made_in_ != os::process_generation(); }

  /// Ends the process with a message if it is: for who would wait for one of those threads, or do their work again.
  void refuse_forked_copy() const noexcept;

  const settings& chosen() const noexcept { return chosen_; }
  parking& idleness() noexcept { return parking_; }
  stack_pool& stacks() noexcept { return stacks_; }
  deque_pool& deques() noexcept { return deques_; }
  const stack_pool& stacks() const noexcept { return stacks_; }
  const tallies& count(unsigned proc) const noexcept { return processors_[proc].count; }
  std::uint64_t age() const noexcept;
  std::uint64_t time_with_jobs() const noexcept;
  std::uint64_t threads_refused() const noexcept { return refused_.read(); }

 private:
  bool work_left() noexcept;
  void count_job(bool begins) noexcept;

  template <class Visit>
  void for_each_active(unsigned first, unsigned step, Visit& visit) {
    for (unsigned i = 0, at = first; i < chosen_.procs; ++i, at = (at + step) % chosen_.procs)
      // acquire: pairs with the releases in execute.cpp
      visit(*processors_[at].active.load(std::memory_order_acquire));
  }

  // With the mutex held.

  template <class Visit>
  void for_each_detached(Visit& visit) {
    for (fiber *f = detached_, *next = nullptr; f; f = next) {
      next = f->next_detached;
      visit(*f->records);
      // Its fiber waits, so nothing is pushed there until the deque is an active one. Those that wait for long are many.
      if (seems_empty(*f->records)) unlink_detached(*f);
    }
  }

  void unlink_detached(fiber& f) noexcept;
  void push_ready(fiber& f) noexcept;
  template <class Predicate>
  fiber* pop_ready(Predicate wanted) noexcept {
    fiber* const f = ready_.take_if(wanted);
    if (f) ready_count_.fetch_sub(1, std::memory_order_relaxed);
    return f;
  }
  processor* take_idle() noexcept;
  void put_idle(processor& p) noexcept;
  worker* take_thread() noexcept;
  worker* start_thread() noexcept;
  void ask_again() noexcept;
  worker* caller_with_records() noexcept;
  bool any_ready_for_caller() const;
  bool thread_for_ready() const;
  worker* take_caller() noexcept;
  void wake_caller(worker& m) noexcept;
  void give_back_stacks(worker& m, std::size_t but) noexcept;
  void give_back_spares(worker& m) noexcept;
  void give_back_spare_deque(worker& m) noexcept;

  const settings chosen_;
  const std::int64_t made_at_;
  const unsigned made_in_ = os::process_generation();
  const thread_function thread_main_;
  stack_pool stacks_;
  deque_pool deques_;
  const std::unique_ptr<processor[]> processors_;
  std::vector<unsigned> steps_;
  std::atomic<unsigned> guests_{0};
  parking parking_;
  os::mutex exposing_;

  // Guards what follows; the counts are read without it.
  alignas(cache_line) os::mutex mutex_;
  stack_list<processor, &processor::next> idle_processors_;
  std::vector<std::unique_ptr<worker>> threads_;  // with a thread of ours
  std::vector<worker*> idle_threads_;             // those that sleep
  unsigned creatable_;                            // how many more may be started
  std::int64_t ask_again_at_ = 0;                 // for threads that were refused
  std::vector<std::unique_ptr<worker>> outside_;  // for threads that call run
  std::vector<worker*> idle_outside_;
  std::vector<worker*> sleeping_callers_;  // wait in run without a P
  queue_list<fiber, &fiber::next> ready_;
  std::atomic<std::size_t> ready_count_{0};
  fiber* detached_ = nullptr;
  std::atomic<std::size_t> detached_count_{0};
  bool stopping_ = false;
  unsigned jobs_ = 0;    // calls of run under way
  stopwatch with_jobs_;  // while there is one
  tally refused_;        // threads that the system did not give
};

}  // namespace fj::inline v0_1::detail
