// An arena is a runtime: its own P and threads, or the default one.
#pragma once

#include "detail/runtime.h"
#include "info.h"
#include "task_group.h"

#include <forkjoin/go.hpp>

#include <optional>
#include <utility>

namespace tbb {

struct attach {};

class task_arena {
 public:
  static constexpr int automatic = -1;
  static constexpr int not_initialized = -2;
  enum class priority { low = 1, normal = 2, high = 3 };
  /// Of which max_concurrency alone counts.
  struct constraints {
    constraints(numa_node_id node = automatic, int concurrency = automatic)
        : numa_id(node), max_concurrency(concurrency) {}
    constraints& set_numa_id(numa_node_id node) { return numa_id = node, *this; }
    constraints& set_max_concurrency(int n) { return max_concurrency = n, *this; }
    constraints& set_core_type(core_type_id kind) { return core_type = kind, *this; }
    constraints& set_max_threads_per_core(int n) { return max_threads_per_core = n, *this; }

    numa_node_id numa_id;
    int max_concurrency;
    core_type_id core_type = automatic;
    int max_threads_per_core = automatic;
  };

  explicit task_arena(int max_concurrency = automatic, unsigned = 1, priority = priority::normal)
      : wanted_(max_concurrency) {}
  explicit task_arena(const constraints& wanted, unsigned = 1, priority = priority::normal)
      : wanted_(wanted.max_concurrency) {}
  explicit task_arena(attach) {}
  task_arena(const task_arena& other) : wanted_(other.wanted_) {}

  void initialize() { active_ = true; }
  void initialize(int max_concurrency, unsigned = 1, priority = priority::normal) {
    if (!active_) wanted_ = max_concurrency;
    active_ = true;
  }
  void initialize(const constraints& wanted, unsigned = 1, priority = priority::normal) {
    initialize(wanted.max_concurrency);
  }
  void initialize(attach) { active_ = true; }
  void terminate() { active_ = false; }
  bool is_active() const { return active_; }

  int max_concurrency() const { return wanted_ > 0 ? wanted_ : static_cast<int>(fj_detail::procs()); }

  /// Calls f in the arena, and returns its result.
  template <class F>
  auto execute(F&& f) {
    active_ = true;
    if (wanted_ <= 0) return fj_detail::enter([&] { return f(); });
    return own().run([&] { return f(); });
  }

  /// Starts f in the arena. As there, an exception that leaves it ends the process.
  template <class F>
  void enqueue(F&& f) {
    active_ = true;
    if (wanted_ > 0) {
      static_cast<void>(own().go(std::forward<F>(f)));
    } else if (fj::runtime* const controlled = fj_detail::controlled_runtimes::all().now()) {
      static_cast<void>(controlled->go(std::forward<F>(f)));
    } else {
      static_cast<void>(fj::go(std::forward<F>(f)));
    }
  }
  void enqueue(task_handle&& handle) {
    enqueue([call = std::shared_ptr<std::function<void()>>(std::move(handle.call_))] { (*call)(); });
  }

 private:
  // Arenas of as many P share a runtime.
  fj::runtime& own() const { return fj_detail::controlled_runtimes::all().of(static_cast<std::size_t>(wanted_)); }

  int wanted_ = automatic;
  bool active_ = false;
};

namespace this_task_arena {

/// The number of the P. A thread outside has number 0, as one that has entered an arena first; here it runs beside the P with that number.
inline int current_thread_index() { return fj_detail::is_inside() ? fj::this_proc() : 0; }
inline int max_concurrency() { return static_cast<int>(fj_detail::procs()); }
/// Calls f. A strand that waits here runs nothing else on its stack, so there is nothing to isolate.
template <class F>
decltype(auto) isolate(F&& f) {
  return std::forward<F>(f)();
}

/// Starts f in the runtime that this code runs in.
template <class F>
void enqueue(F&& f) {
  static_cast<void>(fj::go(std::forward<F>(f)));
}
inline void enqueue(task_handle&& handle) { task_arena().enqueue(std::move(handle)); }

}  // namespace this_task_arena

}  // namespace tbb
