#pragma once

#include "detail/context.h"
#include "detail/left_out.h"
#include "detail/runtime.h"

#include <forkjoin/task_group.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tbb {

enum task_group_status { not_complete, complete, canceled };

/// A task that has not been started.
class task_handle {
 public:
  task_handle() = default;
  task_handle(task_handle&&) = default;
  task_handle& operator=(task_handle&&) = default;
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }

 private:
  friend class task_group;
  friend class task_arena;
  std::unique_ptr<std::function<void()>> call_;
  std::optional<fj::task_group::reservation> reserved_;  // the group waits for what has been deferred
};

class task_group {
 public:
  task_group() = default;
  explicit task_group(task_group_context& context) : own_(context.token()), context_(&context) {}
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  template <class F>
  void run(F&& f) {
    own_.run(std::forward<F>(f));
  }
  void run(task_handle&& handle) {
    task_handle mine = std::move(handle);  // its reservation ends when the task counts
    own_.run([call = std::shared_ptr<std::function<void()>>(std::move(mine.call_))] { (*call)(); });
  }
  template <class F>
  task_handle defer(F&& f) {
    task_handle made;
    made.reserved_.emplace(own_.reserve());
    made.call_ = std::make_unique<std::function<void()>>(
        [kept = std::make_shared<std::decay_t<F>>(std::forward<F>(f))] { static_cast<void>((*kept)()); });
    return made;
  }

  task_group_status wait() { return own_.wait() == fj::task_group_status::canceled ? canceled : complete; }
  template <class F>
  task_group_status run_and_wait(const F& f) {
    return own_.run_and_wait(f) == fj::task_group_status::canceled ? canceled : complete;
  }
  task_group_status run_and_wait(task_handle&& handle) {
    run(std::move(handle));
    return wait();
  }

  void cancel() {
    own_.cancel();
    if (context_) context_->cancel_group_execution();
  }

 private:
  fj::task_group own_;
  task_group_context* context_ = nullptr;
};

using isolated_task_group = task_group;

/// Whether the tasks that this code belongs to were cancelled: not known here, so never. Tasks that are to see it take a fj::stop_token.
inline bool is_current_task_group_canceling() { return false; }

}  // namespace tbb
