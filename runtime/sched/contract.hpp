// What the scheduling rules of this folder ask of the workers, Ps and fibers that they are compiled for, and of the
// steps that they call: those of the library (hooks.hpp), of the models (test/model/scheduler.hpp), and of the
// simulator (bench/simulate/hooks.hpp). To be included after those.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/timer.hpp"
#include "runtime/base/settings.hpp"
#include "runtime/fork/deque.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/os/contract.hpp"
#include "runtime/sched/blocking_word.hpp"
#include "runtime/sched/dispatcher.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/timer_heap.hpp"
#include "runtime/sched/urgent.hpp"
#include "runtime/sched/yield_request.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Reads as a T, and takes one.
template <class Variable, class T>
concept variable_of = std::convertible_to<Variable&, T> && requires(Variable& v, T value) { v = value; };

/// And `replace` returns what it was before.
template <class Variable, class T>
concept replaceable = variable_of<Variable, T> && requires(Variable& v, T by) {
  { v.replace(by) } -> std::same_as<T>;
};

/// M: a thread, or what acts as one.
template <class Worker>
concept worker_for_rules = requires(Worker& m, unsigned limit) {
  { m.sched() } -> std::same_as<scheduler&>;
  m.count();
  { m.is_caller() } -> std::same_as<bool>;
  m.sleep();
  m.signal();
  requires replaceable<decltype(m.proc), processor*>;
  requires replaceable<decltype(m.spinning), bool>;
  requires replaceable<decltype(m.yielded), bool>;
  requires variable_of<decltype(m.asleep), bool>;
  requires variable_of<decltype(m.wakes_at), std::int64_t>;
  requires variable_of<decltype(m.brought), job*>;
  requires variable_of<decltype(m.stolen_at), std::int64_t>;
  requires variable_of<decltype(m.shared_at), std::int64_t>;
  requires std::same_as<decltype(m.sleeps), list_links<Worker>>;
  { m.polled.any() } -> std::same_as<bool>;
  { m.dice.below(limit) } -> std::convertible_to<unsigned>;
};

/// P: the right to run fibers.
template <class Processor>
concept processor_for_rules = requires(Processor& p) {
  requires atomic_of<decltype(p.active), deque*>;
  requires variable_of<decltype(p.next), Processor*>;
  requires variable_of<decltype(p.visited), bool>;
  requires variable_of<decltype(p.runs), std::uint32_t>;
  requires variable_of<decltype(p.tick), unsigned>;
  requires variable_of<decltype(p.looks_at_timers), unsigned>;
  requires variable_of<decltype(p.took), precedence>;
  requires variable_of<decltype(p.soon_until), std::uint64_t>;
  p.slice_began = 0;
  { p.queue.empty() } -> std::same_as<bool>;
  { p.queue.next() } -> std::same_as<fiber*>;
  requires std::derived_from<decltype(p.yield_request), yield_request>;
  requires std::derived_from<decltype(p.urgent_request), yield_request>;
  requires std::same_as<decltype(p.urgent), urgent_time>;
  requires std::same_as<decltype(p.blocking), blocking_word>;
  requires std::same_as<decltype(p.timers), timer_heap>;
  requires std::same_as<decltype(p.chaos), chaos>;
  { p.count.busy.runs() } -> std::same_as<bool>;
};

/// G: a strand with a stack.
template <class Fiber>
concept fiber_for_rules = std::derived_from<Fiber, runnable> && requires(Fiber& f, runnable& marker) {
  requires variable_of<decltype(f.whose), job*>;
  requires variable_of<decltype(f.urgent), bool>;
  requires variable_of<decltype(f.records), deque*>;
  requires replaceable<decltype(f.had), std::uint64_t>;
  requires std::derived_from<decltype(f.marker), runnable>;
  { Fiber::of_marker(marker) } -> std::same_as<Fiber&>;
};

/// The threads that the system gives.
template <class Threads>
concept threads_for_rules = requires(Threads& t, waker then) {
  { t.start(then) } -> std::same_as<worker*>;
  t.end_rest_of_monitor();
  { t.heavy_fence() } -> std::same_as<bool>;
};

template <class Poller>
concept poller_for_rules = requires(Poller& p, const Poller& read) {
  p.begin_wait();
  p.end_wait();
  { read.awaited() } -> std::same_as<bool>;
  { read.is_open() } -> std::same_as<bool>;
  { p.poll() } -> std::same_as<bool>;
};

/// What the workers of a runtime share.
template <class Scheduler>
concept scheduler_for_rules = requires(Scheduler& s, const Scheduler& read) {
  { read.settings() } -> std::same_as<const settings&>;
  { s.dispatcher() } -> std::same_as<dispatcher&>;
  { s.all() } -> std::same_as<processors&>;
  { s.threads() } -> std::same_as<threads&>;
  { s.forcing() } -> std::same_as<os::mutex&>;
  read.refuse_forked_copy();
};

/// The steps of dispatcher.hpp, find.hpp, loop.hpp, owner.hpp, parking.hpp, queues.hpp and timekeeper.hpp. hooks.hpp
/// says what each does.
template <class Hooks>
concept hooks_for_rules =
    requires(worker& m, fiber& f, processor& p, job& r, deque& d, const stolen_record& what, waker then,
             const os::exception_globals* of_thread, std::int64_t time, std::size_t count, bool holds_processor) {
      { Hooks::handles_any(of_thread) } -> std::same_as<bool>;
      { Hooks::seems_empty(d) } -> std::same_as<bool>;
      Hooks::make_idle(p);
      { Hooks::prepare_stack(m) } -> std::same_as<bool>;
      { Hooks::begin(m, what) } -> std::same_as<fiber*>;
      Hooks::note_begin(f, time);
      { Hooks::refuse(m, r) } -> std::same_as<bool>;
      { Hooks::switch_to(m, f) } -> std::same_as<fiber*>;
      Hooks::release_all_stacks(m, count);
      Hooks::give_deque(m, d);
      { Hooks::take_spare_deque(p) } -> std::same_as<deque&>;
      Hooks::make_runnable(f);
      Hooks::wake_polled(m, holds_processor);
      { Hooks::is_watched(m) } -> std::same_as<bool>;
      Hooks::monitor_wakes_by(m, time);
      Hooks::begin_placing(m);
      Hooks::place(m, then);
      Hooks::keep_off(m);
      Hooks::end_placing(m);
      Hooks::placed(m);
    };

/// And those of leaving.hpp, preemption.hpp and blocking_protocol.hpp. No simulated strand leaves with records, gives
/// way or blocks.
template <class Hooks>
concept hooks_for_leaving = hooks_for_rules<Hooks> && requires(worker& m, fiber& f) {
  { Hooks::between_handlers() } -> std::same_as<os::exception_globals&>;
  { Hooks::prepare_to_wait(m) } -> std::same_as<bool>;
  Hooks::replace_active_deque(m);
  Hooks::detach_stacks(m, f);
  Hooks::trim_unused(f);
};

/// All that the rules are compiled for, but the steps.
template <class Worker, class Processor, class Fiber, class Scheduler, class Threads, class Poller>
concept world_for_rules = worker_for_rules<Worker> && processor_for_rules<Processor> && fiber_for_rules<Fiber> &&
                          scheduler_for_rules<Scheduler> && threads_for_rules<Threads> && poller_for_rules<Poller>;

}}}  // namespace fj::v0_4::detail
