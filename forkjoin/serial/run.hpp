// A runtime in the serial build: one P, no threads, nothing to enter.
#pragma once

#include <functional>

#include "forkjoin/abi/options.hpp"
#include "forkjoin/abi/stats.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// The number of calls of run that the thread is inside.
inline thread_local unseen<unsigned> depth_of_runs = 0;

class inside_run {
 public:
  inside_run() noexcept {
    if (depth_of_runs++ == 0) detail::run_begins();
  }
  ~inside_run() {
    if (--depth_of_runs == 0) detail::run_ends();
  }
  inside_run(const inside_run&) = delete;
  inside_run& operator=(const inside_run&) = delete;
};

/// A loop outside of any call of run enters the runtime, as in the other build.
using inside_loop = inside_run;

constexpr unsigned procs_here() noexcept { return 1; }
constexpr unsigned procs_for_loop() noexcept { return 1; }
constexpr void give_way_if_asked() noexcept {}

/// There is one P, so no worker looks for work; but an observer sees what forks there are if one does.
constexpr bool hungry() noexcept { return is_observed; }

}  // namespace detail

/// The options are not looked at.
inline void default_options(const options&) noexcept {}

/// Calls f.
template <class F>
detail::result_of<F> run(F&& f) {
  static_assert(
      detail::returns_movable<F>,
      "fj::run: what the function returns must be movable, to leave the runtime; return a std::unique_ptr to it");
  const detail::inside_run here;
  return std::invoke(f);
}

template <class F, class First, class... More>
void run(F&& f, First&&, More&&...) = delete;  // a closure takes arguments along: fj::run([&] { f(1); })

/// As the other build's, with one P, whatever the options say; they are not looked at.
class runtime {
 public:
  explicit runtime(const options& = {}) {}
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  template <class F>
  detail::result_of<F> run(F&& f) {
    return fj::run(f);
  }

  template <class F, class First, class... More>
  void run(F&& f, First&&, More&&...) = delete;  // a closure takes arguments along: run([&] { f(1); })

  unsigned procs() const noexcept { return 1; }
  void set_procs(unsigned) noexcept {}
  unsigned procs_in_use() const noexcept { return 1; }
  /// There is nothing to trace.
  void trace_to(const char*) noexcept {}
  void write_trace(const char*) noexcept {}
  void stop_trace() noexcept {}
  fj::stats stats() const {
    fj::stats none;
    none.procs.resize(1);
    none.procs_in_use = 1;
    return none;
  }
};

inline unsigned procs() { return 1; }
inline int this_proc() noexcept { return detail::depth_of_runs > 0 ? 0 : -1; }

}}  // namespace fj::v0_4
