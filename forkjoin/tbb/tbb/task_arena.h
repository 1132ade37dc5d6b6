// An arena is a runtime of its own, with its own Ps and threads. So no arena waits for a thread of another.
#pragma once

#include "detail/runtime.h"
#include "info.h"
#include "task_group.h"

#include <forkjoin/go.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace tbb {

struct attach {};

namespace fj_detail {

/// Calls f(), which belongs to no context.
template <class F>
[[gnu::noinline]] decltype(auto) call_alone(F&& f) {
  const body_frame here(nullptr, __builtin_frame_address(0));
  return f();
}

/// Starts f as a fiber of that runtime. As in oneTBB, an exception that leaves f ends the process. `own`: of an arena,
/// which serves no other before f has ended.
template <class F>
void enqueue(fj::runtime_ref in, std::shared_ptr<fj::runtime> own, F&& f) {
  const keeps_worker until_done;
  static_cast<void>(in.go({.stack_size = runtimes::all().task_stack()},
                          [own = std::move(own), f = std::decay_t<F>(std::forward<F>(f))]() mutable {
                            using function = std::decay_t<F>;
                            constexpr bool as_const = std::is_invocable_v<const function&>;
                            using called = std::conditional_t<as_const, const function, function>;
                            call_alone([&] { static_cast<void>(static_cast<called&>(f)()); });
                          }));
}

}  // namespace fj_detail

class task_arena {
 public:
  static constexpr int automatic = -1;
  static constexpr int not_initialized = -2;
#define FORKJOIN_TBB_NO_PRIORITY                                                                             \
  __attribute__((                                                                                            \
      unavailable("forkjoin has no priorities of arenas: each arena has threads of its own, and the system " \
                  "shares the processors among them; leave the priority out, and give the arena that may "   \
                  "wait fewer threads")))
  enum class priority {
    low FORKJOIN_TBB_NO_PRIORITY = 1,
    normal = 2,
    high FORKJOIN_TBB_NO_PRIORITY = 3,
  };
#undef FORKJOIN_TBB_NO_PRIORITY
  using attach = tbb::attach;
  using constraints = fj_detail::constraints;

  explicit task_arena(int max_concurrency = automatic, unsigned = 1, priority = priority::normal)
      : wanted_(max_concurrency) {}
  explicit task_arena(const constraints& wanted, unsigned = 1, priority = priority::normal)
      : wanted_(wanted.max_concurrency) {}
  explicit task_arena(attach) { initialize(attach()); }
  task_arena(const task_arena& other) : wanted_(other.wanted_) {}
  task_arena& operator=(const task_arena&) = delete;

  void initialize() { static_cast<void>(runtime()); }
  void initialize(int max_concurrency, unsigned = 1, priority = priority::normal) {
    const std::scoped_lock held(making_);
    if (own_ || attached_) return;
    wanted_ = max_concurrency;
    make();
  }
  void initialize(const constraints& wanted, unsigned = 1, priority = priority::normal) {
    initialize(wanted.max_concurrency);
  }
  /// To the runtime that the calling code runs in; outside of any, to the default one, or to none if the thread has not
  /// used it.
  void initialize(attach) {
    const std::scoped_lock held(making_);
    if (own_ || attached_ || (!fj_detail::is_inside() && !fj_detail::has_entered)) return;
    attached_ = fj::this_runtime();
    wanted_ = static_cast<int>(attached_->procs());
    is_active_.store(true, std::memory_order_release);
  }
  /// What was enqueued still runs.
  void terminate() {
    const std::scoped_lock held(making_);
    own_.reset();
    attached_.reset();
    is_active_.store(false, std::memory_order_release);
  }
  bool is_active() const { return is_active_.load(std::memory_order_acquire); }

  int max_concurrency() const { return wanted_ > 0 ? wanted_ : info::default_concurrency(); }

  /// Calls f in the arena, and returns its result.
  template <class F>
  decltype(auto) execute(F&& f) {
    return runtime().run([&]() -> decltype(auto) { return fj_detail::call_alone(f); });
  }

  /// Starts f in the arena. As there, an exception that leaves it ends the process.
  template <class F>
  void enqueue(F&& f) {
    const fj::runtime_ref here = runtime();
    fj_detail::enqueue(here, own_, std::forward<F>(f));
  }
  void enqueue(task_handle&& handle) { enqueue(handle.take()); }
  /// As this_task_arena::enqueue.
  static void enqueue_here(task_handle&& handle) { fj_detail::enqueue(fj::this_runtime(), nullptr, handle.take()); }

 private:
  friend class task_scheduler_observer;

  fj::runtime_ref runtime() {
    if (!fj_detail::is_inside()) fj_detail::has_entered = true;
    if (!is_active()) {
      const std::scoped_lock held(making_);
      if (!is_active()) make();
    }
    return own_ ? fj::runtime_ref(*own_) : *attached_;
  }
  void make() {
    constexpr int most = 4'096;  // of fj::options::procs
    own_ = fj_detail::runtimes::all().take(static_cast<unsigned>(std::min(max_concurrency(), most)));
    is_active_.store(true, std::memory_order_release);
  }

  int wanted_ = automatic;
  std::mutex making_;
  std::atomic<bool> is_active_{false};  // release: own_ or attached_ is there for the strand that acquires it
  std::shared_ptr<fj::runtime> own_;
  std::optional<fj::runtime_ref> attached_;
};

namespace this_task_arena {

/// The number of the P. A thread outside has number 0, as one that has entered an arena first, once it has called a
/// runtime; here it runs beside the P with that number.
inline int current_thread_index() {
  return fj_detail::is_inside() ? fj::this_proc() : fj_detail::has_entered ? 0 : task_arena::not_initialized;
}
inline int max_concurrency() { return static_cast<int>(fj_detail::procs()); }
/// Calls f. A strand that waits here runs nothing else on its stack, so there is nothing to isolate.
template <class F>
decltype(auto) isolate(F&& f) {
  return std::forward<F>(f)();
}

/// Starts f in the runtime that this code runs in.
template <class F>
void enqueue(F&& f) {
  fj_detail::enqueue(fj::this_runtime(), nullptr, std::forward<F>(f));
}
inline void enqueue(task_handle&& handle) { task_arena::enqueue_here(std::move(handle)); }

}  // namespace this_task_arena

#if TBB_PREVIEW_TASK_GROUP_EXTENSIONS
/// Whether an algorithm or a group runs this code.
inline bool is_inside_task() { return fj_detail::current_context() != nullptr; }
#endif

}  // namespace tbb
