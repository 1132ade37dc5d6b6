// What the workers of one runtime share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../base/counters.hpp"
#include "../base/settings.hpp"
#include "../fork/loose_roots.hpp"
#include "../os/mutex.hpp"
#include "../os/thread.hpp"
#include "../schedule/dispatcher.hpp"
#include "../stacks/deque_pool.hpp"
#include "../stacks/stack_pool.hpp"
#include "processor.hpp"
#include "system.hpp"
#include "threads.hpp"
#include "worker.hpp"

namespace fj::inline v0_1::detail {

using dispatcher = basic_dispatcher<system>;

class scheduler {
 public:
  /// Throws std::bad_alloc if not even the deques can be had. Starts no thread; those to come run `thread_main`.
  scheduler(const settings& set, threads::function thread_main);

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

  /// While one lives, the runtime has a root to work for.
  class working {
   public:
    explicit working(scheduler& s) noexcept : s_(s) { s_.count_root(true); }
    ~working() { s_.count_root(false); }
    working(const working&) = delete;
    working& operator=(const working&) = delete;

   private:
    scheduler& s_;
  };

  /// For a root that outlives the call that made it: from here to end_root the scheduler lives, and has work.
  void begin_root() noexcept {
    guests_.fetch_add(1, std::memory_order_relaxed);
    count_root(true);
  }
  void end_root() noexcept {
    count_root(false);
    guests_.fetch_sub(1, std::memory_order_release);  // as a guest
  }

  /// Until what runs in it has ended.
  void wait_until_unused() const noexcept;

  /// Whether this is the copy that a fork(2) made of the scheduler: its threads stayed in the parent process.
  bool is_forked_copy() const noexcept { return made_in_ != os::process_generation(); }

  /// Ends the process with a message if it is: a strand would wait for one of those threads, or do their work again.
  void refuse_forked_copy() const noexcept;

  const detail::settings& settings() const noexcept { return settings_; }
  detail::dispatcher& dispatcher() noexcept { return dispatcher_; }
  processors& all() noexcept { return processors_; }
  detail::threads& threads() noexcept { return threads_; }
  stack_pool& stacks() noexcept { return stacks_; }
  /// For the fibers of fj::go.
  stack_pool& small_stacks() noexcept { return small_stacks_; }
  deque_pool& deques() noexcept { return deques_; }
  loose_roots& loose() noexcept { return loose_; }
  /// Held by the thief that exposes records: one at a time.
  os::mutex& exposing() noexcept { return exposing_; }

  // For statistics.
  const stack_pool& stacks() const noexcept { return stacks_; }
  const stack_pool& small_stacks() const noexcept { return small_stacks_; }
  const tallies& count(unsigned proc) const noexcept { return processors_[proc].count; }
  std::uint64_t age() const noexcept;
  std::uint64_t time_working() const noexcept;
  std::uint64_t threads_refused() const noexcept { return threads_.refused(); }

 private:
  processors& with_deques();
  void count_root(bool begins) noexcept;

  const detail::settings settings_;
  const std::int64_t made_at_;
  const unsigned made_in_ = os::process_generation();
  stack_pool stacks_, small_stacks_;
  deque_pool deques_;
  processors processors_;
  detail::threads threads_;
  detail::dispatcher dispatcher_;
  std::atomic<unsigned> guests_{0};
  loose_roots loose_;
  alignas(cache_line) os::mutex exposing_;
  os::mutex roots_mutex_;
  unsigned roots_ FORKJOIN_GUARDED_BY(roots_mutex_) = 0;  // under way
  stopwatch working_;                                     // while there is one
};

}  // namespace fj::inline v0_1::detail
