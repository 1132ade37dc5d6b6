// Groups of tasks. run spawns: the task is what thieves take, and the caller goes on.
//
// Where a task is kept until a strand runs it:
// 1. In the deque of the strand, if the strand's frames hold the group, or if a task of the group starts it: then it
//    ends before the frame does. What is left there is run by the group's wait, or at the end of the task that started
//    it.
// 2. Else in a list. A fiber takes the list as a whole, and keeps the tasks in its own deque. With one P in use a
//    thread outside starts none: then the list waits for a call of wait, as no task may run beside that thread.
// Neither gives way: the caller may hold a lock.
#pragma once

#include "detail/context.h"
#include "detail/left_out.h"
#include "detail/runtime.h"

#include <forkjoin/detail/kept_children.hpp>
#include <forkjoin/go.hpp>
#include <forkjoin/scope.hpp>
#include <forkjoin/with_scope.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tbb {

class task_group;
class task_handle;

enum task_group_status { not_complete, complete, canceled };

/// Thrown by the destructor of a group whose tasks were not waited for.
class missing_wait : public std::exception {
 public:
  const char* what() const noexcept override {
    return "tbb::task_group: wait() was not called before the group's end; its tasks were cancelled";
  }
};

namespace fj_detail {

/// A task of a group: the group waits until it is gone.
class counted_task {
 public:
  explicit counted_task(task_group& of) noexcept;
  counted_task(counted_task&& other) noexcept : group_(std::exchange(other.group_, nullptr)) {}
  counted_task& operator=(counted_task&&) = delete;
  ~counted_task();
  task_group& group() const noexcept { return *group_; }

 private:
  task_group* group_;
};

/// The closure is destroyed before the group hears of the end.
template <class F>
struct group_task {
  counted_task counted;
  F f;
  void operator()() noexcept;
};

/// A task on the heap.
struct heap_task {
  virtual ~heap_task() = default;
  virtual void run() noexcept = 0;
  heap_task* next = nullptr;
};

template <class Task>
struct heap_task_of final : heap_task {
  explicit heap_task_of(Task&& made) : task(std::move(made)) {}
  void run() noexcept override { task(); }
  Task task;
};

struct owned_task {
  std::unique_ptr<heap_task> task;
  void operator()() noexcept {
    task->run();
    task.reset();
  }
};

/// Tasks in the deque of the strand whose frame this lies in.
struct kept_tasks {
  explicit kept_tasks(fj::detail::fiber* home) noexcept : state(home), children(state) {}
  void join() noexcept {
    if (!children.empty()) children.join();
  }

  fj::detail::scope_state state;
  fj::detail::kept_children<fj::leave_stack> children;
};

/// The body of a task, with what it starts itself.
class task_frame : public body_frame {
 public:
  task_frame(task_group_context* context, const void* floor, const task_group& of) noexcept
      : body_frame(context, floor, &of) {}

  /// Where the calling code, which is in this body, keeps a task. nullptr: such tasks are nested so deeply that half of
  /// the stack is used.
  kept_tasks* place() noexcept {
    if (place_) return &*place_;
    fj::detail::fiber* const here = fj::detail::current_fiber();
    const auto used = static_cast<std::size_t>(fj::detail::stack_top(*here) - reinterpret_cast<std::byte*>(this));
    if (used > std::min(fj::detail::stack_size(*here) / 2, most_used)) return nullptr;
    return &place_.emplace(here);
  }
  void join() noexcept {
    if (place_) place_->join();
  }

 private:
  static constexpr std::size_t most_used = 64 << 10;  // a chain of tasks would use any stack to its half

  std::optional<kept_tasks> place_;
};

/// While it lives no fork or start of a fiber gives way.
class keeps_worker {
 public:
  keeps_worker() noexcept : here_(fj::detail::current_fiber()) {
    if (here_) before_ = std::exchange(fj::detail::face_of(*here_).keeps_worker, true);
  }
  ~keeps_worker() {
    if (here_) fj::detail::face_of(*here_).keeps_worker = before_;
  }
  keeps_worker(const keeps_worker&) = delete;
  keeps_worker& operator=(const keeps_worker&) = delete;

 private:
  fj::detail::fiber* const here_;
  bool before_ = false;
};

}  // namespace fj_detail

/// A task that has not been started. Its group waits until it has run, or is gone.
class task_handle {
 public:
  task_handle() = default;
  task_handle(task_handle&&) = default;
  task_handle& operator=(task_handle&&) = default;
  explicit operator bool() const noexcept { return static_cast<bool>(task_); }

  friend bool operator==(const task_handle& handle, std::nullptr_t) noexcept { return !handle; }

 private:
  friend class task_group;
  friend class task_arena;
  explicit task_handle(std::unique_ptr<fj_detail::heap_task> task) noexcept : task_(std::move(task)) {}

  fj_detail::owned_task take() {
    if (task_) return fj_detail::owned_task{std::move(task_)};
    fj_detail::throw_error(
        std::runtime_error("tbb::task_handle: it is empty, or its task was started before; take one from "
                           "task_group::defer for each start"));
  }

  std::unique_ptr<fj_detail::heap_task> task_;
};

class task_group {
 public:
  task_group() : task_group(fj_detail::body_frame::holds(reinterpret_cast<std::uintptr_t>(this))) {}
  explicit task_group(task_group_context& context) : context_(&context) {
    const bool here = fj_detail::body_frame::holds(reinterpret_cast<std::uintptr_t>(this));
    context.begin_use(!here);
    if (here) kept_.emplace(fj::detail::current_fiber());
  }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// If tasks are left that no wait has awaited, cancels them, waits, and throws missing_wait.
  ~task_group() noexcept(false) {
    const bool is_missing = running_.any();
    if (is_missing) cancel();
    wait_for_all("the destructor of tbb::task_group");
    if (context_ != &own_) context_->end_use();
    if (is_missing && std::uncaught_exceptions() == 0) fj_detail::throw_error(missing_wait());
  }

  template <class F>
  void run(F&& f) {
    spawn(task_of(std::forward<F>(f)));
  }
  void run(task_handle&& handle) { spawn(handle.take()); }

  template <class F>
  task_handle defer(F&& f) {
    return task_handle(std::make_unique<fj_detail::heap_task_of<task_type<F>>>(task_of(std::forward<F>(f))));
  }

  /// Runs what is left, waits for the rest, and throws what a task has thrown first. Then the group, and its context,
  /// are as new.
  task_group_status wait() {
    wait_for_all("tbb::task_group::wait");
    const std::exception_ptr error = context_->error();
    const bool was_cancelled = context_->is_group_execution_cancelled();
    context_->reset();
    if (error) std::rethrow_exception(error);
    return was_cancelled ? canceled : complete;
  }
  template <class F>
  task_group_status run_and_wait(const F& f) {
    {
      const fj_detail::counted_task here(*this);
      fj_detail::enter([&] { call(f); });
    }
    return wait();
  }
  task_group_status run_and_wait(task_handle&& handle) {
    fj_detail::owned_task task = handle.take();
    fj_detail::enter([&] { task(); });
    return wait();
  }

  void cancel() { context_->cancel_group_execution(); }

 private:
  friend class fj_detail::counted_task;
  template <class F>
  friend struct fj_detail::group_task;
  template <class F>
  using task_type = fj_detail::group_task<std::decay_t<F>>;

  explicit task_group(bool here) : own_(fj_detail::own_context(), !here) {
    if (here) kept_.emplace(fj::detail::current_fiber());
  }

  template <class F>
  task_type<F> task_of(F&& f) {
    return {fj_detail::counted_task(*this), std::forward<F>(f)};
  }

  // A body is called as const, if it can be.
  template <class F>
  [[gnu::noinline]] void call(F& f) noexcept {
    if (context_->is_group_execution_cancelled()) return;
    fj_detail::task_frame here(context_, __builtin_frame_address(0), *this);
    const fj_detail::floats_of floats(context_->floats());
    try {
      if constexpr (std::is_invocable_v<const F&>) {
        run_result(std::as_const(f));
      } else {
        run_result(f);
      }
    } catch (...) {
      context_->fail(std::current_exception());
    }
    here.join();
  }
  template <class F>
  void run_result(F& f) {
#if TBB_PREVIEW_TASK_GROUP_EXTENSIONS
    if constexpr (std::is_same_v<decltype(f()), task_handle>) {
      if (task_handle next = f()) run(std::move(next));
      return;
    }
#endif
    static_cast<void>(f());
  }

  template <class Task>
  void spawn(Task made) {
    const fj_detail::keeps_worker until_done;
    if (fj_detail::kept_tasks* const place = place_here())
      if (place->children.template keep<Task>(*fj::detail::current_worker(), made)) return;
    if constexpr (std::is_same_v<Task, fj_detail::owned_task>) {
      put_in_list(std::move(made.task));
    } else {
      put_in_list(std::make_unique<fj_detail::heap_task_of<Task>>(std::move(made)));
    }
  }

  fj_detail::kept_tasks* place_here() noexcept {
    fj_detail::body_frame* const body = fj_detail::body_frame::innermost();
    if (body && body->group() == this) return static_cast<fj_detail::task_frame*>(body)->place();
    return kept_ && kept_->state.home == fj::detail::current_fiber() ? &*kept_ : nullptr;
  }

  [[gnu::noinline]] void put_in_list(std::unique_ptr<fj_detail::heap_task> task) {
    const bool is_inside = fj_detail::is_inside();
    if (!is_inside) fj_detail::has_entered = true;
    const std::scoped_lock held(list_mutex_);
    if (!runner_comes_ && (is_inside || waiting_ != 0 || fj::this_runtime().procs_in_use() != 1)) {
      static_cast<void>(start_runner());
      runner_comes_ = true;
    }
    *last_ = task.release();
    last_ = &(*last_)->next;
  }
  fj::future<void> start_runner() {
    return fj::go({.stack_size = fj_detail::runtimes::all().task_stack()}, [this] { run_list(); });
  }
  // The group lives as long as there are tasks.
  void run_list() {
    fj_detail::heap_task* first;
    {
      const std::scoped_lock held(list_mutex_);
      first = std::exchange(first_, nullptr);
      last_ = &first_;
      runner_comes_ = false;
    }
    if (!first->next) return fj_detail::owned_task{std::unique_ptr<fj_detail::heap_task>(first)}();
    fj::basic_scope<fj::policy<fj::last_child_first, fj::leave_stack>> all;
    while (first)
      all.fork(fj_detail::owned_task{std::unique_ptr<fj_detail::heap_task>(std::exchange(first, first->next))});
    all.join();
  }

  void wait_for_all(const char* what) noexcept {
    if (kept_) kept_->join();
    const bool is_needed = running_.any();
    if (is_needed) begin_wait();
    running_.wait_surely({.what = what});
    if (!is_needed) return;
    const std::scoped_lock held(list_mutex_);
    --waiting_;
  }
  [[gnu::noinline]] void begin_wait() {
    bool has_list;
    {
      const std::scoped_lock held(list_mutex_);
      ++waiting_;
      has_list = first_ && !runner_comes_;
      runner_comes_ |= has_list;
    }
    if (!has_list) return;
    fj_detail::enter([this] {
      if (fj::detail::stack_size(*fj::detail::current_fiber()) < fj_detail::runtimes::all().task_stack())
        return start_runner().wait();
      run_list();  // on the calling thread
    });
  }

  task_group_context own_{fj_detail::own_context(), false};
  task_group_context* const context_ = &own_;
  fj::detail::task_count running_{0};
  std::optional<fj_detail::kept_tasks> kept_;
  std::mutex list_mutex_;
  fj_detail::heap_task* first_ = nullptr;
  fj_detail::heap_task** last_ = &first_;
  bool runner_comes_ = false;
  unsigned waiting_ = 0;  // calls of wait
};

namespace fj_detail {

inline counted_task::counted_task(task_group& of) noexcept : group_(&of) { of.running_.begin(); }
inline counted_task::~counted_task() {
  if (group_) group_->running_.end();
}
template <class F>
void group_task<F>::operator()() noexcept {
  counted.group().call(f);
}

}  // namespace fj_detail

using isolated_task_group = task_group;

/// Whether the context of the calling code is cancelled. Code that a thief has taken from a fork of the library's own
/// belongs to none.
inline bool is_current_task_group_canceling() {
  const task_group_context* const here = fj_detail::current_context();
  return here && here->is_group_execution_cancelled();
}

}  // namespace tbb
