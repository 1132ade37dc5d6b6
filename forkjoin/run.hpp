// Entering a runtime.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/run.hpp"
#else

#include <source_location>
#include <type_traits>

#include "forkjoin/abi/runtime.hpp"
#include "forkjoin/detail/call_in.hpp"
#include "forkjoin/detail/result.hpp"

namespace fj { inline namespace v0_4 {

struct go_options;  // include <forkjoin/go.hpp>
class runtime_ref;
class scheduler;  // include <forkjoin/execution.hpp>

namespace detail {

scheduler& scheduler_of(const runtime_ref& of) noexcept;

}  // namespace detail

/// A runtime has its own Ps, threads and stacks. It starts threads when there is work for them. Several runtimes may
/// exist at the same time; they share nothing. The destructor asks the fibers of go to stop. It waits for these fibers,
/// and for calls of run that other threads have not finished. If code that such a call waits for destroys the runtime,
/// the process ends with a message. In a process forked since the runtime was made, the destructor returns immediately
/// and frees nothing.
class runtime {
 public:
  /// If an option or an environment variable makes no sense, throws std::invalid_argument, whose message names the
  /// value and the remedy. Throws std::system_error if the file of a trace or of the flight recorder cannot be written,
  /// std::bad_alloc.
  explicit runtime(const options& wanted = {}) : scheduler_(detail::open_scheduler(wanted)) {}

  ~runtime() { detail::close_scheduler(scheduler_); }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Calls f inside the runtime and returns its result, or rethrows its exception. If a P is idle, the calling thread
  /// runs f itself, so an f that never forks wakes no worker. Inside this runtime run is a plain call of f. If a fiber
  /// of another runtime calls run, the fiber waits and its worker does other work.
  ///
  /// If no P is idle, the calling thread looks for one for a moment, then sleeps until workers have run f or it gets a
  /// P. So if f waits for the f of another thread, by anything but the waits of <forkjoin/go.hpp>, it may wait for
  /// good.
  ///
  /// Errors: std::bad_alloc if there is no stack for f, std::system_error if the runtime has no thread and the system
  /// refuses one, std::logic_error in a process forked since the runtime was made.
  template <class F>
  detail::result_of<F> run(F&& f) {
    static_assert(
        detail::returns_movable<F>,
        "fj::run: what the function returns must be movable, to leave the runtime; return a std::unique_ptr to it");
    if constexpr (detail::returns_movable<F>) return detail::call_in(*scheduler_, f);
  }

  template <class F, class First, class... More>
  void run(F&& f, First&&, More&&...) = delete;  // a closure takes arguments along: run([&] { f(1); })

  /// As fj::go, in this runtime. Needs <forkjoin/go.hpp>.
  template <class F>
  auto go(F&& f, std::source_location at = std::source_location::current());
  template <class F>
  auto go(const go_options& wanted, F&& f);

  template <class F, class First, class... More>
    requires(!std::is_same_v<std::remove_cvref_t<F>, go_options>)
  void go(F&& f, First&&, More&&...) = delete;  // a closure takes arguments along: go([=] { f(1, 2); })

  /// Of C++26, for senders. Needs <forkjoin/execution.hpp>.
  fj::scheduler scheduler() noexcept;

  /// The number of Ps, fixed when the runtime is made. As many are in use, unless set_procs or the system says
  /// otherwise.
  unsigned procs() const noexcept { return detail::procs_of(*scheduler_); }

  /// From now on at most so many strands run at once, from 1 to procs(); 0: as many as the affinity mask of the calling
  /// thread and the cgroup's quota allow, now, and later as they change. From any thread, also from code that runs in
  /// the runtime, at any time. Returns immediately, and costs a few microseconds.
  ///
  /// If it is fewer than before, Ps that are idle, or whose workers look for work, retire immediately. Others retire
  /// when their strand waits, ends, or comes to a fork or to the next part of a loop, about 10 ms after this call: the
  /// monitor's thread, which this starts, asks for that. A strand that computes without a fork keeps its P until then.
  /// What was ready on such a P runs on the others. Code that runs may have a this_proc() of procs_in_use() or more,
  /// because any P may retire.
  ///
  /// Errors: std::invalid_argument for more than procs(), std::logic_error in a process forked since the runtime was
  /// made.
  ///
  /// Source: runtime.GOMAXPROCS(n) of Go, and for 0 its SetDefaultGOMAXPROCS.
  void set_procs(unsigned n) { detail::set_procs(*scheduler_, n); }
  /// What set_procs or the system set last. A runtime whose options and environment do not say how many Ps it has
  /// follows the system as after set_procs(0), up to procs(), once its monitor runs: after the first fiber of go, wait,
  /// or blocking call.
  unsigned procs_in_use() const noexcept { return detail::procs_in_use(*scheduler_); }

  /// Writes what the scheduler does from now on into that file, until stop_trace or the end of the runtime:
  /// `forkjoin-trace page FILE` makes a page of it. From any thread, at any time; running code continues. Each thread
  /// of the runtime keeps its newest 65,536 events (FORKJOIN_TRACE_EVENTS in the environment: another number), in 2 MiB
  /// of the file, which are there whatever ends the process. The file is a new one, made in the same folder, which
  /// takes the name from what has it.
  ///
  /// Errors: std::system_error if the file cannot be made or has no room, or the name is empty, a link or no regular
  /// file's; std::invalid_argument if `path` is null; std::logic_error if a trace is being written or the flight
  /// recorder is on; std::bad_alloc.
  void trace_to(const char* path) { detail::trace_to(*scheduler_, path); }
  /// Writes a copy of what there is now of the trace, or of the flight recorder's events, into that file. From any
  /// thread, at any time.
  ///
  /// Errors: std::system_error and std::invalid_argument as trace_to, std::logic_error if there is neither,
  /// std::bad_alloc.
  void write_trace(const char* path) { detail::write_trace(*scheduler_, path); }
  /// Also the flight recorder. Nothing if there is neither.
  void stop_trace() noexcept { detail::stop_trace(*scheduler_); }

  /// What the runtime has done so far. May be called at any time, from any thread. Throws std::bad_alloc. Cost: a read
  /// of all counters of each P.
  fj::stats stats() const { return detail::stats_of(*scheduler_); }

 private:
  friend class runtime_ref;

  detail::scheduler* const scheduler_;
};

/// A handle of a runtime: as a reference, but it can be copied and stored. It must not be used once the runtime is
/// gone.
class runtime_ref {
 public:
  runtime_ref(const runtime& of) noexcept : scheduler_(of.scheduler_) {}

  /// As the runtime's own.
  template <class F>
  detail::result_of<F> run(F&& f) const {
    static_assert(detail::returns_movable<F>,
                  "fj::runtime_ref::run: what the function returns must be movable, to leave the runtime; return a "
                  "std::unique_ptr to it");
    if constexpr (detail::returns_movable<F>) return detail::call_in(*scheduler_, f);
  }
  template <class F>
  auto go(F&& f, std::source_location at = std::source_location::current()) const;
  template <class F>
  auto go(const go_options& wanted, F&& f) const;
  fj::scheduler scheduler() const noexcept;
  unsigned procs() const noexcept { return detail::procs_of(*scheduler_); }
  void set_procs(unsigned n) const { detail::set_procs(*scheduler_, n); }
  unsigned procs_in_use() const noexcept { return detail::procs_in_use(*scheduler_); }
  fj::stats stats() const { return detail::stats_of(*scheduler_); }

  friend bool operator==(const runtime_ref& a, const runtime_ref& b) noexcept = default;

 private:
  friend runtime_ref this_runtime();
  friend detail::scheduler& detail::scheduler_of(const runtime_ref& of) noexcept;
  explicit runtime_ref(detail::scheduler& s) noexcept : scheduler_(&s) {}

  detail::scheduler* scheduler_;
};

namespace detail {

inline scheduler& scheduler_of(const runtime_ref& of) noexcept { return *of.scheduler_; }

}  // namespace detail

/// The runtime that this code runs in; outside any, the default one. Outside, the first call makes that runtime, and
/// throws what its constructor throws.
inline runtime_ref this_runtime() {
  detail::scheduler* const here = detail::current_scheduler();
  return runtime_ref(here ? *here : detail::default_scheduler());
}

/// Options of the default runtime, which the first call that enters it makes. Call it before, for example at the
/// beginning of main: later it throws std::logic_error. Throws std::invalid_argument if an option or an environment
/// variable makes no sense. A child process that fork(2) made has a default runtime of its own, with the options that
/// the parent set.
inline void default_options(const options& wanted) { detail::set_default_options(wanted); }

/// As runtime::run, in the default runtime. The first call makes that runtime, and throws what its constructor throws:
/// std::invalid_argument if an environment variable makes no sense. So do all calls that enter the default runtime from
/// outside. Inside any runtime, run is a plain call of f; from outside it takes a few
/// microseconds: so a program that calls many short loops calls run once, around them.
template <class F>
detail::result_of<F> run(F&& f) {
  static_assert(
      detail::returns_movable<F>,
      "fj::run: what the function returns must be movable, to leave the runtime; return a std::unique_ptr to it");
  detail::scheduler* const here = detail::current_scheduler();
  if constexpr (detail::returns_movable<F>) return detail::call_in(here ? *here : detail::default_scheduler(), f);
}

template <class F, class First, class... More>
void run(F&& f, First&&, More&&...) = delete;  // a closure takes arguments along: fj::run([&] { f(1); })

namespace detail {

/// In the serial build, a loop's way into the runtime; here a loop enters where it needs to.
struct inside_loop {
  constexpr inside_loop() noexcept {}
};

}  // namespace detail

/// The number of Ps of the runtime that this code runs in; outside any runtime, that of the default one. Outside, the
/// first call makes that runtime, and throws what its constructor throws.
inline unsigned procs() {
  detail::scheduler* const here = detail::current_scheduler();
  return detail::procs_of(here ? *here : detail::default_scheduler());
}

/// The index of the P that this code runs on, from 0 to procs() - 1; -1 outside any runtime. After a fork, a join or
/// a wait the code may run on another P.
inline int this_proc() noexcept { return detail::current_proc(); }

}}  // namespace fj::v0_4

#endif
