// The library's side of fj::task_group: the count of its tasks, their first exception, and whether they are to stop
// (runtime/wait/task_group.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "forkjoin/abi/scope.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Counts tasks. Strands and threads wait until the count is zero.
class task_count {
 public:
  explicit task_count(std::int64_t first) noexcept : tasks_(first) {}

  void begin() noexcept { tasks_.fetch_add(1, std::memory_order_relaxed); }
  void end() noexcept;
  bool any() const noexcept { return tasks_.load(std::memory_order_relaxed) != 0; }

  wait_end wait(const wait_limits& limits);
  /// The same whatever comes.
  void wait_surely(const wait_place& place) noexcept;

 private:
  std::atomic<std::int64_t> tasks_;
  os::mutex guard_;
  wait_queue queue_ FORKJOIN_GUARDED_BY(guard_);
};

/// What a group's tasks share: the first exception, and whether they are to stop.
class task_group_core : public group_children {
 public:
  explicit task_group_core(std::stop_token outer) noexcept;
  ~task_group_core();
  task_group_core(const task_group_core&) = delete;
  task_group_core& operator=(const task_group_core&) = delete;

  /// By a strand, before it starts a task as its child: also the strand's job waits for that task. False if there is
  /// no memory.
  [[nodiscard]] bool begin_child() noexcept;
  /// By that strand, if the child was not left to others.
  void end_child() noexcept { ended(*this); }

  task_count& running() noexcept { return running_; }

  /// Keeps the exception, if it is the first, and asks the others to stop.
  void fail(std::exception_ptr error) noexcept;

  /// What starts no more.
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed) || outer_.stop_requested(); }
  void request_stop() noexcept;
  /// Throws std::bad_alloc.
  std::stop_token token();

  struct result {
    std::exception_ptr error;
    bool stopped;
  };
  /// After a wait: what has come of the tasks. The group is as new.
  result take() noexcept;

 private:
  static void ended(group_children& of) noexcept;

  task_count running_{0};
  std::atomic<bool> stopped_{false};
  const std::stop_token outer_;
  os::mutex guard_;
  std::exception_ptr error_ FORKJOIN_GUARDED_BY(guard_);
  std::optional<std::stop_source> source_ FORKJOIN_GUARDED_BY(guard_);  // once a token has been asked for

  struct passes_stop_on {
    task_group_core& to;
    void operator()() const noexcept { to.request_stop(); }
  };
  const std::stop_callback<passes_stop_on>
      hears_outer_;  // the last member: it may be called from its constructor to its destructor
};

}}}  // namespace fj::v0_4::detail
