// What the scheduling templates of this folder ask of the machine that they run on. There are three: the runtime's
// (sched/system.hpp), the model checks' (test/model), and the simulator's (bench/simulate). So a rule stands in one place, and a
// change of it changes all three.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "../fork/machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// What the thread that wakes another does next: which processor is free for the other depends on it.
enum class waker { goes_on, sleeps };

/// Types:
/// - `deque`: basic_deque of the machine; `for_each_deque` passes it as a deque_thief.
/// - `fiber`: derives from runnable, with `whose` (its root), `records` (the deque that it left with when it waited, else
///   nullptr) and `marker`; `fiber::of_marker` finds it. `root`: `ready` (root_runnables),
///   `caller` (the thread that waits for it, or nullptr), `done` (an atomic<bool>). `processor`: `active` (an atomic pointer to
///   its deque, never nullptr), `queue` (a basic_run_queue), `runs`, `tick` and `slice_began` for ready_work and local_queue, `chaos`, `next`,
///   `count` (its counters), `timers` (a basic_timer_heap), `looks_at_timers` (a count). `processors`: all P, with `count`, `steps`
///   and `step`, and `for_each_deque(visit)`, which reads `active` with acquire, and `for_each_deque(first, step, visit)`, which goes
///   on as long as visit returns true. `for_each` is the same with visit(processor, deque).
/// - `worker`: a thread. `proc` is its P; `spinning` says whether it is counted as looking; `asleep` and `sleeps` belong to the
///   dispatcher; `brought` is a caller's root; `is_caller()` says whether it is one; `stolen_at` and `published_at` are times; `dice.below(n)` is a number below n;
///   `count()` are the counters of its P. `signal` is a release, and `sleep` returns after one, with acquire; it may return
///   without one, and returns at the time `wakes_at`, which is set with the dispatcher's mutex held. With such a time and an open poller it
///   sleeps there, and `polled` are waits that it has claimed meanwhile. `proc` and `spinning` have `replace` (base/relaxed.hpp). `sched()` is what the workers of a runtime share:
///   `dispatcher()`, `all()` (the processors), `settings()`, `exposing()` (a mutex), `refuse_forked_copy()`, and `monitor()`, whose
///   `watch()` says whether a monitor looks into the poller while all workers compute.
/// - `poller`: `begin_wait` and `end_wait` count what waits there, `awaited` says whether anything does, all sequentially consistent;
///   `is_open` says whether a worker with a time to wake at sleeps there; `poll` wakes what waits for something that has happened.
/// - `threads`: `start` returns a new worker that sleeps, or nullptr if the system refuses it. It is called without the mutex.
///
/// Functions: `now_ns` is a clock that does not go back; `pause` is for loops that wait for other threads; `yield_thread` and
/// `sleep_ns` let other threads run. `prepare_stack(m)` has a stack at hand for what m steals, false if there is no memory;
/// then `begin(m, stolen)` returns a fiber that begins with that record, or with its root if there is none; `refuse(m, root)` ends
/// a root that has no stack to begin on. `give_deque(m, d)` takes back a deque that thieves
/// emptied. `make_idle(p)` is called for each P that is put among the idle. `handles_any` is asked by exposure::end.
/// `wake_polled(m, holds)` wakes what m.polled holds: if m holds no P, for any worker.
/// `seems_empty(d)` looks at a deque without ordering anything for a race detector.
/// A worker that wakes a sleeping one calls `begin_placing` with the mutex held and `place` without it: that chooses a
/// processor for the woken thread, signals it, and lets it go on. The end of a root calls `keep_off` before it signals the
/// caller, and `end_placing` after it. `placed` waits for both.
template <class Machine>
concept scheduling_machine =
    memory_machine<Machine> &&
    requires(typename Machine::worker& m, typename Machine::processor& p, typename Machine::deque& d, waker then,
             const typename Machine::deque::stolen_record& stolen, typename Machine::processors& all,
             typename Machine::fiber& f, typename Machine::root& r, typename Machine::threads& threads,
             typename Machine::poller& events) {
      { Machine::fiber::of_marker(f.marker) } -> std::same_as<typename Machine::fiber&>;
      f.whose = &r;
      f.records = &d;
      { r.ready.empty() } -> std::same_as<bool>;
      { r.done.load(std::memory_order_acquire) } -> std::same_as<bool>;
      { r.caller == &m } -> std::same_as<bool>;
      p.next = &p;
      { p.chaos.once_in(2u) } -> std::same_as<bool>;
      { p.queue.take_next() } -> std::same_as<typename Machine::fiber*>;
      p.runs = p.runs + 1;
      ++p.tick;
      p.slice_began = Machine::now_ns();
      all.for_each_deque([](typename Machine::deque::as_thief&) {});
      all.for_each_deque(all.count() - 1, all.step(all.steps() - 1),
                         [](typename Machine::deque::as_thief&) { return true; });
      { threads.start() } -> std::same_as<typename Machine::worker*>;
      m.proc = &p;
      { m.spinning.replace(true) } -> std::same_as<bool>;
      m.asleep = true;
      m.wakes_at = p.timers.earliest();
      ++p.looks_at_timers;
      m.brought = &r;
      { m.is_caller() } -> std::same_as<bool>;
      m.stolen_at = Machine::now_ns();
      m.published_at = Machine::now_ns();
      m.dice.below(2);
      m.count();
      m.sleep();
      m.signal();
      { m.polled.any() } -> std::same_as<bool>;
      Machine::wake_polled(m, true);
      { events.poll() } -> std::same_as<bool>;
      { events.awaited() } -> std::same_as<bool>;
      { events.is_open() } -> std::same_as<bool>;
      events.begin_wait();
      events.end_wait();
      { Machine::now_ns() } -> std::same_as<std::int64_t>;
      Machine::pause();
      Machine::yield_thread();
      Machine::sleep_ns(std::int64_t{});
      { Machine::prepare_stack(m) } -> std::same_as<bool>;
      { Machine::begin(m, stolen) } -> std::same_as<typename Machine::fiber*>;
      Machine::refuse(m, r);
      Machine::give_deque(m, d);
      Machine::make_idle(p);
      { Machine::seems_empty(d) } -> std::same_as<bool>;
      Machine::begin_placing(m);
      Machine::place(m, then);
      Machine::end_placing(m);
      Machine::placed(m);
      Machine::keep_off(m);
    };

}}}  // namespace fj::v0_2::detail
