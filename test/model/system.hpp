// The machine of the model on which the scheduling templates run, a scheduling_machine as the runtime's
// (runtime/sched/system.hpp): threads of the model that sleep until they are signalled, and a clock that takes a long step
// at any time, so that every wait is too long at some time.
#pragma once

#include <array>
#include <csetjmp>
#include <cstdint>

#include "runtime/base/settings.hpp"
#include "runtime/fork/join.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/sched/blocking_protocol.hpp"
#include "runtime/sched/blocking_word.hpp"
#include "runtime/sched/dispatcher.hpp"
#include "runtime/sched/find.hpp"
#include "runtime/sched/leaving.hpp"
#include "runtime/sched/loop.hpp"
#include "runtime/sched/owner.hpp"
#include "runtime/sched/preemption.hpp"
#include "runtime/sched/queues.hpp"
#include "runtime/sched/run_queue.hpp"
#include "runtime/sched/time_slices.hpp"
#include "test/model/deque.hpp"

namespace model {

struct worker;

}  // namespace model

namespace fj { inline namespace v0_2 { namespace detail {

struct root : runnable {
  root() : runnable(kind::root) {}
  root_runnables ready;
  model::worker* caller = nullptr;
  model::machine::atomic<bool> done{false};
};

}}}  // namespace fj::v0_2::detail

namespace model {

using fj::detail::after_park;
using fj::detail::root;
using fj::detail::runnable;
using fj::detail::waker;

class scheduler;

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
  machine::atomic<std::int64_t> value_{fj::detail::never};
};

/// Counters that are no part of the model.
struct no_tally {
  void operator++() {}
  void raise_to(std::uint64_t) {}
};
struct no_stopwatch {
  bool runs() const { return true; }
};
struct no_tallies {
  no_stopwatch busy;
  no_tally exposures, most_public, parks, preemptions, publications, retakes, slow_pops, slow_pushes, steals, wakeups;
  void begin_busy(std::int64_t) {}
  void begin_looking(std::int64_t) {}
};

struct any_dice {
  unsigned below(unsigned limit) { return any_of(limit); }
};

/// As relaxed<std::uint32_t>.
class counter {
 public:
  operator std::uint32_t() const { return value_.load(std::memory_order_relaxed); }
  counter& operator=(std::uint32_t value) {
    newest = value;
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }

  std::uint32_t newest = 0;  ///< known outside of the model's memory

 private:
  machine::atomic<std::uint32_t> value_{0};
};

struct fiber : runnable, fj::detail::join_waiter {
  struct deque_marker : runnable {
    explicit deque_marker(fiber& f) : runnable(kind::marker), of(f) {}
    fiber& of;
  };

  fiber() : runnable(kind::fiber) {}
  static fiber& of_marker(runnable& marker) { return static_cast<deque_marker&>(marker).of; }

  root* whose = nullptr;
  deque* records = nullptr;
  owned<deque*> carried{nullptr};
  deque_marker marker{*this};
  deque::stolen_record stolen;
};

struct noted_request : fj::detail::basic_yield_request<machine> {
  void ask(std::uint32_t run) {
    asked = run;
    basic_yield_request::ask(run);
  }
  std::uint32_t asked = 0;  ///< known outside of the model's memory
};

struct processor {
  machine::atomic<deque*> active{nullptr};
  processor* next = nullptr;
  owned<deque*> spare_deque{nullptr};
  fj::detail::basic_run_queue<machine, fiber, 2> queue;
  counter runs;
  noted_request yield_request;
  fj::detail::chaos chaos;
  unsigned tick = 0;
  std::int64_t slice_began = 0;
  unsigned looks_at_timers = 0;
  fj::detail::basic_timer_heap<machine> timers;
  fj::detail::basic_blocking_word<machine, fiber> blocking;
  no_tallies count;
};

/// Up to as many as there are threads.
class processors {
 public:
  explicit processors(unsigned count) : count_(count) {}

  unsigned count() const { return count_; }
  processor& operator[](unsigned index) { return all_[index]; }

  // Of up to three P.
  unsigned steps() const { return count_ == 3 ? 2 : 1; }
  unsigned step(unsigned index) const { return index + 1; }

  template <class Visit>
  void for_each(unsigned first, unsigned step, Visit visit) {
    for (unsigned i = 0, at = first; i < count_; ++i, at = (at + step) % count_)
      if (!visit(all_[at], all_[at].active.load(std::memory_order_acquire)->for_thieves())) return;
  }
  template <class Visit>
  void for_each_deque(unsigned first, unsigned step, Visit visit) {
    for_each(first, step, [&visit](processor&, deque::as_thief& d) { return visit(d); });
  }
  template <class Visit>
  void for_each_deque(Visit visit) {
    for_each_deque(0, 1, [&visit](deque::as_thief& d) {
      visit(d);
      return true;
    });
  }

 private:
  static_assert(threads == 3);
  const unsigned count_;
  processor all_[threads];
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
  machine::atomic<unsigned> waits_{0};
  machine::atomic<bool> is_open_{false};
};

/// A monitor for which the system may refuse a thread.
struct monitor {
  bool watch() { return any_of(4) != 0; }
};

/// What was polled: nothing.
struct no_waits {
  bool any() const { return false; }
};

/// A thread of the model.
struct worker {
  scheduler& sched() const { return *belongs_to; }
  no_tallies& count() { return counts; }
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

  owned<processor*> proc{nullptr};
  owned<bool> spinning{false};
  owned<bool> yielded{false};
  fiber* (*then)(worker&, fiber&, void*) = nullptr;
  void* argument = nullptr;
  owned<bool> carries{false};
  bool asleep = false;
  shared_time wakes_at;
  no_waits polled;
  fj::detail::list_links<worker> sleeps;
  root* brought = nullptr;
  any_dice dice;
  std::int64_t stolen_at = 0, published_at = 0;
  machine::atomic<int> signalled{0};
  fiber thief;  ///< for the record it steals
  no_tallies counts;
  scheduler* belongs_to = nullptr;
  jmp_buf start;

  // Known outside of the model's memory, so true at once.
  bool in_sleep = false, was_signalled = false, rests = false, gone = false, in_poller = false;
  unsigned placers = 0;
  std::int64_t sleeps_until = fj::detail::never;
  unsigned naps = 2;  ///< sleeps of a timekeeper that may still end too soon
};

/// Threads that the runtime may start, or is refused.
class unstarted_threads {
 public:
  worker* start() {
    for (unsigned i = any_of(3); i > 0; --i) pause();
    refused = any_of(2);
    return refused ? nullptr : next;
  }

  worker* next = nullptr;
  bool refused = false;  ///< the last time
};

/// What the fibers of a scenario do. They have no stacks of their own: a fiber goes on from where it left by what it remembers.
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

struct system : machine {
  using deque = model::deque;
  using fiber = model::fiber;
  using poller = model::poller;
  using processor = model::processor;
  using processors = model::processors;
  using root = fj::detail::root;
  using threads = unstarted_threads;
  using worker = model::worker;

  static std::int64_t now_ns() { return system_clock += any_of(2) ? 1 : 1'000'000'000; }
  static void pause() { model::pause(); }
  static void yield_thread() { model::pause(); }
  static void sleep_ns(std::int64_t) { model::pause(); }

  /// Of a thread whose strand puts its exceptions aside; the others handle none.
  static fj::detail::os::exception_globals& between_handlers() {
    static char stands_for_them;
    return reinterpret_cast<fj::detail::os::exception_globals&>(stands_for_them);
  }
  static bool handles_any(const fj::detail::os::exception_globals* of_thread) {
    return owner_handles || of_thread == &between_handlers();
  }
  static bool seems_empty(const auto& d) { return d.looks_empty(); }
  static void make_idle(processor&) {}

  static bool prepare_stack(worker&);
  static fiber* begin(worker& m, const deque::stolen_record& what) {
    m.thief.whose = what.whose;
    m.thief.stolen = what;
    return &m.thief;
  }
  static void refuse(worker&, root&) { check(false, "a worker that has a stack begins the root that it took"); }
  static void give_deque(worker& m, deque& empty) {
    if (!m.proc->spare_deque) m.proc->spare_deque = &empty;
  }
  static deque& take_spare_deque(processor& p) { return *p.spare_deque.replace(nullptr); }
  static void replace_active_deque(worker&) {}  // the system refuses memory
  static void detach_stacks(worker&, fiber&) {}
  static void trim_unused(fiber&) {}
  static void release_stacks(worker&, unsigned) { steps::here->before_park(); }
  static bool prepare_to_wait(worker& m) { return m.proc->spare_deque != nullptr; }
  static void make_runnable(fiber&) {}
  static fiber* switch_to(worker& m, fiber& f) {
    check(!m.spinning, "a worker that runs a fiber does not count among those that look for work");
    check(!m.brought || f.whose == m.brought, "a caller works for its own root alone");
    check(m.placers == 0, "a worker that runs a fiber has been placed");
    return steps::here->run(m, f);
  }

  static void wake_polled(worker&, bool) {}

  static void begin_placing(worker& m) { ++m.placers; }
  static void place(worker& m, waker) {
    m.signal();
    if (any_of(2)) pause();  // as a system call
    end_placing(m);
  }
  static void keep_off(worker& m) { check_is_there(m); }
  static void end_placing(worker& m) {
    check_is_there(m);
    --m.placers;
  }
  static void placed(worker& m) {
    wait_until([&] { return m.placers == 0; });
  }

  static inline std::int64_t system_clock = 0;
  static inline bool owner_handles = false;  ///< known outside of the model's memory

 private:
  static void check_is_there(const worker& m) { check(!m.gone, "a caller waits for those that place it"); }
};

using active_deque = fj::detail::basic_active_deque<system>;
using blocking_protocol = fj::detail::basic_blocking_protocol<system>;
using caller_loop = fj::detail::basic_caller_loop<system>;
using dispatcher = fj::detail::basic_dispatcher<system>;
using exposer = fj::detail::basic_exposer<system>;
using timer_heap = fj::detail::basic_timer_heap<machine>;
using local_queue = fj::detail::basic_local_queue<system>;
using owner = fj::detail::basic_owner<system>;
using preemption = fj::detail::basic_preemption<system>;
using worker_loop = fj::detail::basic_worker_loop<system>;

class scheduler {
 public:
  /// `startable`: how many threads may be started.
  scheduler(unsigned procs, bool eager, unsigned startable)
      : settings_{.procs = procs, .eager = eager}, all_(procs), dispatcher_(all_, threads_, poller_, startable, eager) {
    system::system_clock = 1'000'000'000;
    for (worker& m : workers_) m.belongs_to = this;
  }

  model::dispatcher& dispatcher() { return dispatcher_; }
  processors& all() { return all_; }
  unstarted_threads& threads() { return threads_; }
  model::poller& poller() { return poller_; }
  worker& thread(unsigned index) { return workers_[index]; }
  const fj::detail::settings& settings() const { return settings_; }
  machine::mutex& exposing() { return exposing_; }
  model::monitor& monitor() { return monitor_; }
  void refuse_forked_copy() const {}
  bool is_forked_copy() const { return false; }
  void count_refused_retakes(unsigned) {}

  /// Whether no thread will ever run again.
  bool is_still() const {
    for (unsigned i = 0; i < model::threads; ++i)
      if (!system_state.ended[i] && (!workers_[i].in_sleep || workers_[i].was_signalled)) return false;
    return true;
  }

 private:
  const fj::detail::settings settings_;
  processors all_;
  unstarted_threads threads_;
  worker workers_[model::threads];
  model::poller poller_;
  model::monitor monitor_;
  model::dispatcher dispatcher_;
  machine::mutex exposing_;
};

// A worker asks for a stack before it takes an entry of the ready queue.
inline bool system::prepare_stack(worker& m) {
  check(m.sched().dispatcher().ready_count() <= 16, "no entry leaves the ready queue twice");
  return true;
}

inline void worker::sleep() {
  sleeps_until = wakes_at;
  const bool polls = sleeps_until != fj::detail::never && sched().poller().is_open();
  while (signalled.exchange(0, std::memory_order_acquire) == 0) {
    if (sleeps_until != fj::detail::never && naps > 0 && any_of(2)) {
      --naps;
      return;
    }
    in_sleep = true;
    in_poller = polls;
    if (polls) check(sched().poller().sleepers++ == 0, "one worker at a time sleeps in the poller");
    wait_until([&] { return was_signalled || sched().is_still(); });
    rests = !was_signalled;
    in_sleep = false;
    if (polls) --sched().poller().sleepers;
    if (!rests) continue;
    check(!proc, "a thread that sleeps holds no P");
    end();
  }
  was_signalled = false;
}

}  // namespace model
