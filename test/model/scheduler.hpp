// The neighbours of the scheduling rules in the model, in place of runtime/sched/{hooks,scheduler}.hpp: threads of the
// model that sleep until they are signalled, and a clock that takes a long step at any time, so that every wait is too
// long at some time.
#pragma once

#include <array>
#include <csetjmp>
#include <cstdint>

#include "test/model/deque.hpp"
#include "test/model/scenario.hpp"

#include "forkjoin/abi/join.hpp"
#include "runtime/base/chaos.hpp"
#include "runtime/base/settings.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/sched/blocking_word.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/processors.hpp"
#include "runtime/sched/run_queue.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/sched/urgent.hpp"
#include "runtime/sched/yield_request.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
class scheduler;
struct worker;

struct job : runnable {
  job() : runnable(kind::job) {}
  bool urgent = false;
  job_runnables ready;
  worker* caller = nullptr;
  os::atomic<bool> done{false};
};

}}}  // namespace fj::v0_4::detail

namespace model {

using fj::detail::fiber;
using fj::detail::job;
using fj::detail::runnable;
using fj::detail::scheduler;
using fj::detail::waker;
using fj::detail::worker;

/// A plain variable with what fj::detail::relaxed has besides.
template <class T>
class owned : public plain<T> {
 public:
  using plain<T>::plain;
  using plain<T>::operator=;
  T operator->() const { return *this; }
  T replace(T by, place at = place::current()) {
    const T before = this->get(at);
    *this = {by, at};
    return before;
  }
};

/// As fj::detail::relaxed.
class shared_time {
 public:
  operator std::int64_t() const { return value_.load(std::memory_order_relaxed); }
  shared_time& operator=(std::int64_t value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }

 private:
  os::atomic<std::int64_t> value_{fj::detail::never};
};

/// Counters that are no part of the model.
struct no_tally {
  void operator++() {}
  void raise_to(std::uint64_t) {}
};
struct turns_tally {
  void operator++() { ++number; }
  unsigned number = 0;  ///< known outside of the model's memory
};
struct no_stopwatch {
  bool runs() const { return true; }
};
struct no_tallies {
  no_stopwatch busy;
  no_tally exposures, most_public, parks, preemptions, publications, retakes, slow_pops, slow_pushes, steals, wakeups;
  turns_tally urgent_turns;
  void begin_busy(std::int64_t) {}
  void begin_looking(std::int64_t) {}
};

struct any_dice {
  unsigned below(unsigned limit) { return any_of(limit); }
};

/// Numbers what happens, in the order in which the model's threads do it. Known outside of the model's memory.
inline std::uint64_t moments = 0;

/// As relaxed<std::uint32_t>.
class counter {
 public:
  operator std::uint32_t() const { return value_.load(std::memory_order_relaxed); }
  counter& operator=(std::uint32_t value) {
    newest = value;
    written_at = ++moments;
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }

  // Known outside of the model's memory.
  std::uint32_t newest = 0;
  std::uint64_t written_at = 0;  ///< a moment

 private:
  os::atomic<std::uint32_t> value_{0};
};

/// Whether a worker spins.
class noted_spinning : public owned<bool> {
 public:
  using owned<bool>::owned;
  using owned<bool>::operator=;
  bool replace(bool by, place at = place::current()) {
    const bool before = owned<bool>::replace(by, at);
    if (before && !by) ended_at = ++moments;
    return before;
  }

  std::uint64_t ended_at = 0;  ///< a moment; known outside of the model's memory
};

struct noted_request : fj::detail::yield_request {
  void ask(std::uint32_t run) {
    asked = run;
    by_several |= asked_by != -1 && asked_by != static_cast<int>(rl::thread_index());
    asked_by = static_cast<int>(rl::thread_index());
    all |= std::uint64_t{1} << run;
    yield_request::ask(run);
  }
  void refuse() {
    asked = 0;
    yield_request::refuse();
  }
  /// Whether that run was ever asked: of two requests a strand may see the older one.
  bool was_asked(std::uint32_t run) const { return all >> run & 1; }

  // Known outside of the model's memory.
  std::uint32_t asked = 0;
  int asked_by = -1;  ///< a thread
  bool by_several = false;
  std::uint64_t all = 0;  ///< a bit for each run
};

/// What was polled: nothing.
struct no_waits {
  bool any() const { return false; }
};

/// What the fibers of a scenario do. They have no stacks of their own: a fiber goes on from where it left by what it
/// remembers.
class steps {
 public:
  steps() { here = this; }

  /// Runs `f` until it leaves. Returns what follows, or nullptr; ends the thread if f works for ever.
  virtual fiber* run(worker& m, fiber& f) = 0;

  /// A worker has found nothing, and parks next.
  virtual void before_park() {}

  static inline steps* here = nullptr;

 protected:
  ~steps() = default;
};

}  // namespace model

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber : runnable, join_waiter {
  struct deque_marker : runnable {
    explicit deque_marker(fiber& f) : runnable(kind::marker), of(f) {}
    fiber& of;
  };

  fiber() : runnable(kind::fiber) {}
  static fiber& of_marker(runnable& marker) { return static_cast<deque_marker&>(marker).of; }

  job* whose = nullptr;
  bool urgent = false;
  deque* records = nullptr;
  model::owned<deque*> carried{nullptr};
  model::owned<std::uint64_t> had{0};
  deque_marker marker{*this};
  stolen_record stolen;
};

struct processor {
  os::atomic<deque*> active{nullptr};
  processor* next = nullptr;
  bool visited = false;
  model::owned<deque*> spare_deque{nullptr};
  run_queue<fiber, 2> queue;
  model::counter runs;
  model::noted_request yield_request, urgent_request;
  urgent_time urgent;
  detail::chaos chaos;
  unsigned tick = 0;
  std::uint64_t slice_began = 0;
  precedence took = precedence::in_order;
  std::uint64_t soon_until = 0;
  unsigned looks_at_timers = 0;
  timer_heap timers;
  blocking_word blocking;
  model::no_tallies count;
};

/// Up to as many as there are threads, without memory of their own: Relacy would count it as the model's.
template <class T>
class one_per_thread {
 public:
  explicit one_per_thread(unsigned) {}
  T& operator[](unsigned index) { return all_[index]; }
  const T& operator[](unsigned index) const { return all_[index]; }

 private:
  T all_[model::threads];
};

class processors : public basic_processors<processor, one_per_thread> {
 public:
  using basic_processors::basic_processors;
};

/// A poller in which nothing happens: what sleeps there sleeps on.
class poller {
 public:
  void open() { is_open_.store(true, std::memory_order_release); }

  void begin_wait() { waits_.fetch_add(1, std::memory_order_seq_cst); }
  void end_wait() { waits_.fetch_sub(1, std::memory_order_seq_cst); }
  bool awaited() const { return waits_.load(std::memory_order_seq_cst) > 0; }
  bool is_open() const { return is_open_.load(std::memory_order_acquire); }
  bool poll() { return false; }

  unsigned sleepers = 0;  ///< known outside of the model's memory

 private:
  os::atomic<unsigned> waits_{0};
  os::atomic<bool> is_open_{false};
};

/// A monitor for which the system may refuse a thread.
struct monitor {
  bool watch() { return model::any_of(4) != 0; }
};

/// A thread of the model.
struct worker {
  scheduler& sched() const { return *belongs_to; }
  model::no_tallies& count() { return counts; }
  bool is_caller() const { return brought != nullptr; }

  /// What a thread does: work(), until that returns or ends the thread from within.
  template <class Work>
  void run(Work work) {
    if (setjmp(start) == 0) work();
  }

  /// The thread does nothing any more; if it holds a P, because it works on something for ever. No destructor runs.
  [[noreturn]] void end() { longjmp(start, 1); }

  /// If all threads sleep for good, this one `rests` and ends.
  void sleep();
  void signal() {
    signalled.store(1, std::memory_order_release);
    was_signalled = true;
  }

  model::owned<processor*> proc{nullptr};
  model::noted_spinning spinning{false};
  model::owned<bool> yielded{false};
  fiber* (*then)(worker&, fiber&, void*) = nullptr;
  void* argument = nullptr;
  model::owned<bool> carries{false};
  bool asleep = false;
  model::shared_time wakes_at;
  model::no_waits polled;
  list_links<worker> sleeps;
  job* brought = nullptr;
  model::any_dice dice;
  std::int64_t stolen_at = 0, shared_at = 0;
  os::atomic<int> signalled{0};
  fiber thief;  ///< for the record it steals
  model::no_tallies counts;
  scheduler* belongs_to = nullptr;
  jmp_buf start;

  // Known outside of the model's memory, so true at once.
  bool in_sleep = false, was_signalled = false, rests = false, gone = false, in_poller = false;
  unsigned placers = 0;
  std::int64_t sleeps_until = never;
  unsigned naps = 2;  ///< sleeps of a timekeeper that may still end too soon
};

/// Threads that the runtime may start, or is refused.
class threads {
 public:
  worker* start(detail::waker) {
    for (unsigned i = model::any_of(3); i > 0; --i) os::pause();
    refused = model::any_of(2);
    return refused ? nullptr : next;
  }

  void end_rest_of_monitor() noexcept {}

  /// False: another thread has not passed a fence, as one that does not answer in time.
  bool heavy_fence() {
    if (may_be_deaf && model::any_of(2) == 0) {
      os::fence();
      return false;
    }
    os::heavy_fence();
    return true;
  }

  worker* next = nullptr;
  bool refused = false;  ///< the last time
  bool may_be_deaf = false;
};

struct scheduler_hooks {
  /// Of a thread whose strand puts its exceptions aside; the others handle none.
  static os::exception_globals& between_handlers() {
    static char stands_for_them;
    return reinterpret_cast<os::exception_globals&>(stands_for_them);
  }
  static bool handles_any(const os::exception_globals* of_thread) {
    return owner_handles || of_thread == &between_handlers();
  }
  static bool seems_empty(const auto& d) { return d.looks_empty(); }
  static void make_idle(processor&) {}

  static bool prepare_stack(worker&);
  static void note_begin(fiber&, std::int64_t) {}
  static fiber* begin(worker& m, const stolen_record& what) {
    m.thief.whose = what.whose;
    m.thief.stolen = what;
    return &m.thief;
  }
  static bool refuse(worker&, job&) {
    model::check(false, "a worker that has a stack begins the job that it took");
    return true;
  }
  static void give_deque(worker& m, deque& empty) {
    if (!m.proc->spare_deque) m.proc->spare_deque = &empty;
  }
  static deque& take_spare_deque(processor& p) { return *p.spare_deque.replace(nullptr); }
  static void replace_active_deque(worker&) {}  // the system refuses memory
  static void detach_stacks(worker&, fiber&) {}
  static void trim_unused(fiber&) {}
  static void release_all_stacks(worker&, unsigned) { model::steps::here->before_park(); }
  static bool prepare_to_wait(worker& m) { return m.proc->spare_deque != nullptr; }
  static void make_runnable(fiber&) {}
  static fiber* switch_to(worker& m, fiber& f) {
    model::check(!m.spinning, "a worker that runs a fiber does not count among those that look for work");
    model::check(!m.brought || f.whose == m.brought, "a caller works for its own job alone");
    model::check(m.placers == 0, "a worker that runs a fiber has been placed");
    return model::steps::here->run(m, f);
  }

  static void wake_polled(worker&, bool) {}
  /// A monitor for which the system may refuse a thread.
  static bool is_watched(worker&) { return model::any_of(4) != 0; }
  static void monitor_wakes_by(worker&, std::int64_t) {}  // monitor_model

  static void begin_placing(worker& m) { ++m.placers; }
  static void place(worker& m, waker) {
    m.signal();
    if (model::any_of(2)) os::pause();  // as a system call
    end_placing(m);
  }
  static void keep_off(worker& m) { check_is_there(m); }
  static void end_placing(worker& m) {
    check_is_there(m);
    --m.placers;
  }
  static void placed(worker& m) {
    model::wait_until([&] { return m.placers == 0; });
  }

  static inline bool owner_handles = false;  ///< known outside of the model's memory

 private:
  static void check_is_there(const worker& m) { model::check(!m.gone, "a caller waits for those that place it"); }
};

}}}  // namespace fj::v0_4::detail

#include "runtime/sched/dispatcher.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler {
 public:
  /// `startable`: how many threads may be started.
  scheduler(unsigned procs, bool eager, unsigned startable)
      : settings_{.procs = procs, .eager = eager}, all_(procs), dispatcher_(all_, threads_, poller_, startable, eager) {
    for (worker& m : workers_) m.belongs_to = this;
  }

  detail::dispatcher& dispatcher() { return dispatcher_; }
  processors& all() { return all_; }
  detail::threads& threads() { return threads_; }
  detail::poller& poller() { return poller_; }
  worker& thread(unsigned index) { return workers_[index]; }
  const detail::settings& settings() const { return settings_; }
  os::mutex& forcing() { return forcing_; }
  detail::monitor& monitor() { return monitor_; }
  void refuse_forked_copy() const {}
  bool is_forked_copy() const { return false; }
  void count_refused_retakes(unsigned) {}

  /// Whether no thread will ever run again.
  bool is_still() const {
    for (unsigned i = 0; i < model::threads; ++i)
      if (!model::system_state.ended[i] && (!workers_[i].in_sleep || workers_[i].was_signalled)) return false;
    return true;
  }

 private:
  const detail::settings settings_;
  processors all_;
  detail::threads threads_;
  worker workers_[model::threads];
  detail::poller poller_;
  detail::monitor monitor_;
  detail::dispatcher dispatcher_;
  os::mutex forcing_;
};

// A worker asks for a stack before it takes an entry of the ready queue.
inline bool scheduler_hooks::prepare_stack(worker& m) {
  model::check(m.sched().dispatcher().ready_count() <= 16, "no entry leaves the ready queue twice");
  return true;
}

inline void worker::sleep() {
  sleeps_until = wakes_at;
  const bool polls = sleeps_until != never && sched().poller().is_open();
  while (signalled.exchange(0, std::memory_order_acquire) == 0) {
    if (sleeps_until != never && naps > 0 && model::any_of(2)) {
      --naps;
      return;
    }
    in_sleep = true;
    in_poller = polls;
    if (polls) model::check(sched().poller().sleepers++ == 0, "one worker at a time sleeps in the poller");
    model::wait_until([&] { return was_signalled || sched().is_still(); });
    rests = !was_signalled;
    in_sleep = false;
    if (polls) --sched().poller().sleepers;
    if (!rests) continue;
    model::check(!proc, "a thread that sleeps holds no P");
    end();
  }
  was_signalled = false;
}

}}}  // namespace fj::v0_4::detail

#include "runtime/sched/blocking_protocol.hpp"
#include "runtime/sched/find.hpp"
#include "runtime/sched/leaving.hpp"
#include "runtime/sched/local_queue.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/owner.hpp"
#include "runtime/sched/preemption.hpp"
#include "runtime/sched/time_slices.hpp"

#include "runtime/sched/contract.hpp"

namespace fj { inline namespace v0_4 { namespace detail {
static_assert(world_for_rules<worker, processor, fiber, scheduler, threads, poller>);
static_assert(hooks_for_leaving<scheduler_hooks>);
}}}  // namespace fj::v0_4::detail

namespace model {

using fj::detail::active_deque;
using fj::detail::after_park;
using fj::detail::blocking_protocol;
using fj::detail::caller_loop;
using fj::detail::dispatcher;
using fj::detail::forcer;
using fj::detail::local_queue;
using fj::detail::owner_steps;
using fj::detail::preemption;
using fj::detail::processor;
using fj::detail::processors;
using fj::detail::scheduler_hooks;
using fj::detail::timer_heap;
using fj::detail::worker_loop;

/// A clock that takes a long step at any time.
class scheduling_scenario : public scenario {
 public:
  std::int64_t now_ns() override { return clock_ += any_of(2) ? 1 : 1'000'000'000; }

 protected:
  std::int64_t clock_ = 1'000'000'000;
};

}  // namespace model
