// Tasks that belong to an object: started and waited for anywhere.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#ifdef FORKJOIN_PROFILE
#error \
    "forkjoin: the profile has forks, scopes and loops, but no task groups: their tasks may outlive the strand that starts them"
#include <the compilation ends here, because of the error above>
#endif

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/task_group.hpp"
#else

#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/run.hpp"
#include "forkjoin/abi/scope.hpp"
#include "forkjoin/abi/task_group.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/closure_child.hpp"
#include "forkjoin/go/future.hpp"
#include "forkjoin/go/wait_options.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// A task: its closure, and the group. It keeps what the closure throws.
template <class F>
struct task {
  task_group_core& group;
  F f;

  void operator()() noexcept {
    try {
      if constexpr (std::is_invocable_v<F&>) {
        static_cast<void>(std::invoke(f));
      } else {
        static_cast<void>(std::invoke(f, group.token()));
      }
    } catch (...) {
      group.fail(caught_exception());
    }
  }
};

}  // namespace detail

/// What task_group::wait returns: `canceled` if the group, or the token that it was made with, was asked to stop.
enum class task_group_status { complete, canceled };

/// Tasks that may outlive the function that starts them: a member of an object, a group that several functions fill. As
/// tbb::task_group. Any strand or thread may start tasks and wait, several may do so at once, and a task may start
/// others.
///
/// run(f) runs f immediately on another stack, as fj::scope::fork does: thieves may steal the caller's continuation.
/// With one P the tasks run in the order of the program, and a task that waits for what its caller does after run needs
/// a second P, or fj::go. Outside any runtime f becomes a fiber of the default one.
///
/// A task that run has started in a runtime is part of the call of fj::run, or of the fiber, that it was started in:
/// that ends when its tasks have.
///
/// Where tasks end with the function that starts them, fj::scope and fork_join cost a fraction of a group, and throw a
/// child's exception in the order of the program. A group throws the first exception that occurred; then it starts no
/// more tasks until the wait.
class task_group {
 public:
  task_group() noexcept : task_group(stop_token()) {}
  /// A group that is asked to stop with the token, too: so are the tokens of its tasks.
  explicit task_group(stop_token outer) noexcept : core_(std::move(outer)) {}

  /// Asks the tasks to stop and waits for all of them. What they have thrown is lost: call wait before, to have it.
  ~task_group() {
    core_.request_stop();
    core_.running().wait_surely({.what = "the destructor of fj::task_group"});
  }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Runs f(), or f(stop_token) with a token of the group's, as a task; nothing if the group is asked to stop. Moves or
  /// copies f. f must not wait for its own group, as that wait would be for f itself.
  ///
  /// Cost if nothing is stolen: a call with two switches of stacks and about six atomic operations. Errors: outside a
  /// runtime those of fj::go; what f throws comes from wait, what the move or copy of f throws comes from run.
  template <class F>
  void run(F&& f) {
    using closure = std::decay_t<F>;
    static_assert(std::is_invocable_v<closure&> || std::is_invocable_v<closure&, stop_token>,
                  "fj::task_group::run: the argument must be callable without arguments, or with a fj::stop_token");
    if (core_.stopped()) return;
    detail::task<closure> made{core_, std::forward<F>(f)};
    detail::fiber* const here = detail::current_fiber();
    here ? run_as_child(*here, made) : start_outside(std::move(made));
  }

  /// Starts f as fj::go does, as a fiber of the group: wait waits for it, too, and when wait has returned, its future
  /// is ready. Its result and its exception are the future's. For tasks that are waited for one by one, and for those
  /// that wait for other fibers. If the group is asked to stop, f starts nonetheless; a token that f takes is asked as
  /// well.
  template <class F>
  auto go(F&& f, std::source_location at = std::source_location::current()) {
    return go(go_options{.at = at}, std::forward<F>(f));
  }
  template <class F>
  auto go(const go_options& wanted, F&& f) {
    if constexpr (detail::takes_stop_token<F> && !std::is_invocable_v<std::decay_t<F>&>) {
      return start_counted(wanted, [&group = core_, f = std::decay_t<F>(std::forward<F>(f))]() mutable {
        return std::invoke(f, group.token());
      });
    } else if constexpr (detail::takes_stop_token<F>) {
      return start_counted(wanted, [f = std::decay_t<F>(std::forward<F>(f))]() mutable { return std::invoke(f); });
    } else {
      return start_counted(wanted, std::forward<F>(f));
    }
  }

  /// Counts as a task while it lives: wait does not return before it is gone.
  class reservation {
   public:
    reservation(reservation&& other) noexcept : group_(std::exchange(other.group_, nullptr)) {}
    reservation& operator=(reservation&& other) noexcept {
      std::swap(group_, other.group_);
      return *this;
    }
    ~reservation() {
      if (group_) group_->running().end();
    }

   private:
    friend class task_group;
    explicit reservation(detail::task_group_core& group) noexcept : group_(&group) { group.running().begin(); }

    detail::task_group_core* group_;
  };

  /// For what is to become a task later: by code that has no task yet, and must not miss its wait.
  [[nodiscard]] reservation reserve() noexcept { return reservation(core_); }

  /// Waits until all tasks have ended, also those that come meanwhile, and throws what the first of those that threw
  /// has thrown. Afterwards the group is as new; but if the token that it was made with has been asked to stop, run
  /// starts nothing any more, and each later wait returns `canceled`. If it is called by several at once, one of them
  /// throws. A strand that waits leaves its stack, and its worker does other work.
  ///
  /// Errors: fj::cancelled if options.stop is asked to stop first, fj::timed_out if the time options.until comes,
  /// std::bad_alloc if there is no memory to wait; then the tasks go on.
  task_group_status wait(wait_options options = {}) {
    detail::throw_if_limited(core_.running().wait(detail::limits_of(options, "fj::task_group::wait")));
    auto [error, stopped] = core_.take();
    if (error) std::rethrow_exception(std::move(error));
    return stopped ? task_group_status::canceled : task_group_status::complete;
  }

  /// Calls f() as a task, on the caller's stack, then waits: what f throws comes from the wait. If the group is asked
  /// to stop, f is not called.
  template <class F>
  task_group_status run_and_wait(F&& f) {
    if (!core_.stopped()) {
      const reservation here(core_);
      detail::task<std::remove_reference_t<F>&>{core_, f}();
    }
    return wait();
  }

  /// Asks the tasks to stop: those that run, if they have a token; run starts no more until the wait has ended.
  void request_stop() noexcept { core_.request_stop(); }
  void cancel() noexcept { request_stop(); }  ///< oneTBB's name
  /// Whether run starts nothing.
  [[nodiscard]] bool stopped() const noexcept { return core_.stopped(); }

 private:
  template <class F>
  auto start_counted(const go_options& wanted, F&& f) {
    detail::scheduler* const here = detail::current_scheduler();
    return detail::starter<F>::start(here ? *here : detail::default_scheduler(), wanted, std::forward<F>(f),
                                     &core_.running());
  }

  template <class Task>
  [[gnu::cold, gnu::noinline]] void start_outside(Task made) {
    static_cast<void>(fj::go([here = reservation(core_), made = std::move(made)]() mutable { made(); }));
  }

  template <class Task>
  void run_as_child(detail::fiber& here, Task& made) {
    using child = detail::closure_child<Task>;
    const bool has_stack = detail::face_of(here).below || detail::prepare_below(*detail::current_worker(), here);
    if (!has_stack || !detail::fits<child>(*detail::face_of(here).below) || !core_.begin_child()) {
      const reservation counted(core_);  // other strands may wait for it
      return made();
    }
    child* placed = nullptr;
    try {
      placed = &detail::construct_child<child, Task>(core_, here, *detail::face_of(here).below, made);
    } catch (...) {
      core_.end_child();
      throw;
    }
    placed->number = detail::child::forked_elsewhere;
    if (detail::call_child_slow(*placed, &child::run) != detail::fork_end::stolen) core_.end_child();
  }

  detail::task_group_core core_;
};

}}  // namespace fj::v0_4

#endif
