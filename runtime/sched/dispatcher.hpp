// Which worker runs what: the ready queue, the idle P, the threads that sleep; waking, parking, and handing a P over.
//
// Threads of the runtime work for all jobs. A caller, a thread that called run, works only for the job that it
// brought. If it gets no P, it sleeps until other workers have run its job. PARKING.md proves that no wake-up is lost.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/parking.hpp"
#include "runtime/sched/queues.hpp"
#include "runtime/sched/time_slices.hpp"
#include "runtime/sched/timekeeper.hpp"
#include "runtime/sched/urgent.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// Which sleeping worker gets an idle P.

/// All of it with the dispatcher's mutex held.
class matching {
 public:
  /// A P that was idle, and a worker that slept, or that a thread must be started.
  struct match {
    processor* held = nullptr;
    worker* woken = nullptr;
    bool spins = false;
    bool must_start = false;
  };

  matching(processors& all, idle_lists& idle, ready_queue& ready, thread_budget& budget) noexcept
      : all_(all), idle_(idle), ready_(ready), budget_(budget) {}

  /// After begin_waking, which has counted one worker that spins.
  match take() noexcept {
    match found{.held = idle_.take_processor()};
    if (!found.held) return found;
    if ((found.woken = idle_.take_thread())) {
      found.woken->spinning = true;  // begin_waking has counted it
    } else if (budget_.begin_start()) {
      found.must_start = true;
      return found;
    } else {
      found.woken = take_caller();
    }
    if (found.woken) {
      found.spins = found.woken->spinning;
      give(*found.woken, *found.held);
    } else {
      idle_.put_processor(*found.held);
    }
    return found;
  }

  /// To a worker that sleeps. A caller, whose job may be over, does not go on before it has been placed.
  static void give(worker& m, processor& p) noexcept {
    m.proc = &p;
    ++p.count.wakeups;
    emit_wake(p, m);
    scheduler_hooks::begin_placing(m);
  }

  /// Whether a thread sleeps, or may be started, that works for all jobs.
  bool has_other_thread() const noexcept { return idle_.has_thread() || budget_.any_left(); }

  /// Whether there is a thread for what is ready.
  bool thread_for_ready() noexcept { return has_other_thread() || caller_with_ready(); }

 private:
  // A sleeping caller of whose job a fiber or a marker is ready. Only if no other thread can be had.
  worker* caller_with_ready() noexcept {
    if (idle_.callers().empty()) return nullptr;
    ready_.move_all_here(all_);
    return idle_.callers().find([](const worker& m) { return ready_queue::any_of(*m.brought); });
  }

  // To take what is ready of its job, or else to look for records of it.
  worker* take_caller() noexcept {
    worker* m = caller_with_ready();
    if (!m && (m = idle_.caller_with_records(all_))) m->spinning = true;
    if (m) idle_.remove_caller(*m);
    return m;
  }

  processors& all_;
  idle_lists& idle_;
  ready_queue& ready_;
  thread_budget& budget_;
};

// How a P changes hands: its worker gives it up, or a thread takes it from a strand that is in a blocking call.

/// What became of a try to take a P from a strand that is in a blocking call.
enum class retaken { taken, came_back, no_thread };

/// All of it with the dispatcher's mutex held.
class handoff {
 public:
  handoff(processors& all, idle_lists& idle, ready_queue& ready, matching& threads, parking& counts,
          urgent_places& urgent) noexcept
      : all_(all), idle_(idle), ready_(ready), matching_(threads), counts_(counts), urgent_(urgent) {}

  /// The P goes to the sleeping worker that is returned, if something is ready. Else nullptr, and the P is idle or
  /// retired.
  worker* give_up(processor& p) noexcept {
    idle_.end_visit_of(p);
    ready_.move_here(p.queue);
    // A P for which something is ready is never idle. But it may retire: then workers hold the others.
    worker* const next = ready_.any() && counts_.surplus() == 0 ? idle_.take_thread() : nullptr;
    if (next) {
      next->spinning = true;
      counts_.start_spinning();
      matching::give(*next, p);
    } else {
      idle_.put_processor(p);
    }
    return next;
  }

  /// Takes the P of a strand that is in that call and gives it up, with the records that the strand has in its deque.
  /// `only_with_thread`: not if no thread could run what there is. `next`: what give_up returned.
  retaken retake(processor& p, std::uint64_t call, bool only_with_thread, worker*& next) noexcept {
    if (only_with_thread && !matching_.thread_for_ready() && !idle_.caller_with_records(all_))
      return retaken::no_thread;
    auto* const strand = p.blocking.retake(call);
    if (!strand) return retaken::came_back;
    ++p.count.retakes;
    emit_retake(p, *strand);
    urgent_.give_back(p);
    detach_records(p, [&](deque& records) {
      strand->records = &records;
      ready_.push_marker(*strand);
    });
    next = give_up(p);
    return retaken::taken;
  }

 private:
  processors& all_;
  idle_lists& idle_;
  ready_queue& ready_;
  matching& matching_;
  parking& counts_;
  urgent_places& urgent_;
};

class dispatcher {
 public:
  using match = matching::match;
  using work = ready_queue::work;

  /// All P are idle, and no thread has been started. `chaos`: as in options.
  dispatcher(processors& all, threads& started, poller& events, unsigned max_threads, bool eager,
             std::uint64_t chaos = 0)
      : all_(all), threads_(started), poller_(events), eager_(eager), ready_(chaos), budget_(max_threads, parking_) {
    const locked lock(mutex_);
    for (unsigned i = all.count(); i-- > 0;) idle_.put_processor(all[i]);
  }

  /// Makes a fiber runnable, or a job, which a worker's own fiber then begins; and wakes a worker for it if need be.
  void ready(fiber& f) noexcept FORKJOIN_EXCLUDES(mutex_) { ready_all(std::array{&f}); }
  void ready(job& r) noexcept FORKJOIN_EXCLUDES(mutex_) { ready_all(std::array{&r}); }

  /// The same for several, in that order.
  void ready_all(const auto& several) noexcept FORKJOIN_EXCLUDES(mutex_) {
    {
      const locked lock(mutex_);
      for (auto* const strand : several) ready_.push(*strand);
    }
    wake();
  }

  /// The same for a fiber that no strand of the runtime has made ready: it goes before the others. If all P are busy,
  /// one is asked to give way to it, each in turn. One whose strand does not hear it leaves the fiber to the monitor's
  /// next look (monitor_rules.hpp).
  void ready_soon(auto& one) noexcept FORKJOIN_EXCLUDES(mutex_) {
    note_cuts();
    {
      const locked lock(mutex_);
      ready_.push_soon(one);
    }
    wake();
    if (!all_busy()) return;
    const std::int64_t now = os::now_ns();
    std::int64_t last = cut_at_.load(std::memory_order_relaxed);
    if (now - last < tuning::between_cuts_ns || !cut_at_.compare_exchange_strong(last, now, std::memory_order_relaxed))
      return;
    for (unsigned i = 0; i < all_.count(); ++i) {
      processor& next = all_[cuts_.fetch_add(1, std::memory_order_relaxed) % all_.count()];
      if (hears(next)) return time_slices::ask(next, next.yield_request, next.runs);
    }
  }

  /// Whether a fiber waits that goes on soon; a hint.
  bool any_soon() const noexcept { return ready_.any_soon(); }
  /// From now on strands may be cut: each P notes when its slices begin.
  void note_cuts() noexcept {
    if (!notes_cuts()) notes_cuts_.store(true, std::memory_order_relaxed);
  }
  bool notes_cuts() const noexcept { return notes_cuts_.load(std::memory_order_relaxed); }

  // Urgent fibers (urgent.hpp). note_cuts has been called before the first.

  /// The same as ready for an urgent fiber: it goes before all others. If all Ps are busy, one that may serve it is
  /// asked to give way: that of the strand that makes it ready, `by`, unless that is nullptr; else each in turn. If
  /// that one's strand does not hear, the monitor asks the others (monitor_rules.hpp).
  void ready_urgent(fiber& f, processor* by) noexcept FORKJOIN_EXCLUDES(mutex_) {
    {
      const locked lock(mutex_);
      ready_.push_urgent(f);
    }
    wake();
    if (all_busy()) ask_for_urgent(by);
  }
  /// For a fiber that may be urgent, or not.
  void ready(fiber& f, processor* by) noexcept FORKJOIN_EXCLUDES(mutex_) { f.urgent ? ready_urgent(f, by) : ready(f); }

  /// The first urgent fiber if that P, the worker's own, may serve it before others; else nullptr.
  fiber* take_urgent(processor& p) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (!p.urgent.any_left(os::rough_ns())) {
      if (all_busy()) ask_for_urgent(nullptr);
      return nullptr;
    }
    const locked lock(mutex_);
    fiber* const first = urgent_.any_left(in_use()) ? ready_.take_urgent() : nullptr;
    if (first) urgent_.take(p);
    return first;
  }
  /// The urgent fiber that the P serves has left its stack.
  void end_urgent(processor& p) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    urgent_.give_back(p);
  }

  /// A run has begun on that P. If an urgent fiber became ready since its worker looked, it is asked at once.
  void begin_run(processor& p) noexcept {
    if (!p.urgent.runs() && wants_for_urgent(p)) time_slices::ask(p, p.urgent_request, p.runs);
  }

  /// Whether an urgent fiber waits; a hint.
  bool any_urgent() const noexcept { return ready_.any_urgent(); }
  /// Whether one waits that the P may serve; a hint.
  bool wants_for_urgent(const processor& p) const noexcept { return any_urgent() && may_serve(p, os::rough_ns()); }

  /// After a worker has put a fiber into its own queue: wakes another if need be.
  void announce() noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (all_.count() == 1) return;  // the worker holds the only P
    // The queue, then the counts: pairs with the fences in work_left and in queues.hpp: move_all_here.
    os::fence();
    wake();
  }

  /// Puts the marker of a fiber that waits and left records in its deque into the queue, before its P drops that deque.
  /// Wakes none: the worker that the fiber left looks at the queue next.
  void push_marker(fiber& f) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    ready_.push_marker(f);
  }

  /// The deque of a fiber that goes on, and is the only strand that uses it again; nullptr if thieves emptied it.
  deque* take_back_records(fiber& f) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    return ready_.take_back_records(f);
  }

  /// An entry of the ready queue, of that job alone unless nullptr. `has_stack`: the worker can begin a stolen record.
  /// `more_to`: unless nullptr, the worker's P, whose queue is empty and gets its share of the other fibers.
  work take_ready(ready_queue::which of, job* only, bool has_stack, processor* more_to) noexcept
      FORKJOIN_EXCLUDES(mutex_) {
    if (!any_ready()) return {};
    work got;
    {
      const locked lock(mutex_);
      const std::size_t share = ready_.count() / in_use();
      got = ready_.take(of, only, has_stack);
      // Under the mutex: a worker that parks sees them here or there.
      if (got.resumed && more_to) ready_.move(share, more_to->queue);
    }
    if (got.left_more) wake();
    return got;
  }

  bool any_ready() const noexcept { return ready_.any(); }
  std::size_t ready_count() const noexcept { return ready_.count(); }
  /// Whether something is ready for which no P is idle, though there is a thread that would run it.
  bool lacks_processor() noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (parking_.idle() > 0 || !(any_ready() || any_in_rings(all_))) return false;
    const locked lock(mutex_);
    return !idle_.has_processor() && matching_.thread_for_ready();
  }

  detail::timekeeper& timekeeper() noexcept { return timekeeper_; }
  poller& polled() noexcept { return poller_; }

  /// Before a worker with a P takes up a fiber.
  void attend_timers(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    timekeeper_.fire_own(m);
    if (!timekeeper_.covers_own(m)) wake();
  }

  // How many P are in use.

  /// So many from now on, from 1 to all. Those too many that workers hold retire as soon as their workers look:
  /// has_surplus.
  void use(unsigned procs) noexcept FORKJOIN_EXCLUDES(mutex_) {
    bool grows = false;
    {
      const locked lock(mutex_);
      grows = idle_.use(static_cast<int>(procs), static_cast<int>(all_.count()));
      in_use_.store(procs, std::memory_order_relaxed);
    }
    if (grows) after_giving_up(nullptr, waker::goes_on);
  }
  /// Whether a worker that holds a P had better give it up. A hint.
  bool has_surplus() const noexcept { return parking_.surplus() > 0; }
  /// Whether a caller waits for an idle P, which a worker without work had better give it. A hint.
  bool any_caller_waits() const noexcept { return waiting_callers_.load(std::memory_order_relaxed) > 0; }
  /// What use was called with last.
  unsigned in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }

  // Workers that look for work.

  /// The worker looks for work from now on: no other need be woken for what it may find.
  void start_spinning(worker& m) noexcept {
    if (!m.spinning.replace(true)) parking_.start_spinning();
  }

  /// It found something, if it looked at all. No worker was woken while it spun, so another looks for more, unless this
  /// one has all that there is. A worker woken for nothing would spin where the thread runs that a brief job answers.
  void stop_spinning(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (!m.spinning.replace(false)) return;
    parking_.stop_spinning();
    if (parking_.should_wake()) {
      // It may have marked its own deque as watched, and looks at it no more. (A strand that begins there sends a new
      // request; one that looked on top of its stack goes on with the deque as it is.)
      m.proc->active.load(std::memory_order_relaxed)->request();
      if (!found_all(m)) wake();
    }
    attend_urgent();
  }

  bool may_spin() const noexcept { return parking_.may_spin(static_cast<int>(all_.count())); }
  bool hungry() noexcept { return parking_.hungry(); }
  bool any_spinning() const noexcept { return parking_.any_spinning(); }
  bool any_idle() const noexcept { return parking_.idle() > 0; }
  bool all_idle() const noexcept { return parking_.unheld() == static_cast<int>(all_.count()); }
  /// Whether no worker would see at once what becomes ready.
  bool all_busy() const noexcept { return parking_.idle() == 0 && !parking_.any_spinning(); }

  // Workers that sleep.

  /// Wakes or starts a worker if some P is idle and no worker spins.
  void wake(waker then = waker::goes_on) noexcept FORKJOIN_EXCLUDES(mutex_) {
    while (parking_.begin_waking()) {
      const match found = match_idle();
      if (found.must_start) {
        if (start_thread(*found.held, then)) return;
      } else if (found.woken) {
        const bool spins = found.spins;
        scheduler_hooks::place(*found.woken, then);
        if (spins) return;
      }
      // Others may have relied on this thread since begin_waking: look again, unless no thread could be woken.
      parking_.stop_spinning();
      attend_urgent();
      if (found.must_start || found.woken) continue;
      // stop_spinning, then looking at the deques: pairs with the fence in fork/deque_owner.hpp: attend.
      os::fence();
      {
        const locked lock(mutex_);
        if (stopping_) return;
        if (matching_.thread_for_ready() || idle_.caller_with_records(all_)) continue;
        if (!budget_.any_left() && !idle_.has_thread()) timekeeper_.tell_caller();
        if (!idle_.ask_owners_for_callers(all_)) return;
      }
      // An owner may have answered its request while this thread counted as spinning, and its next push may have found
      // none. Only a caller would take that record, and it sleeps: so this thread looks, as in park.
      heavy_fence();
      const locked lock(mutex_);
      if (!idle_.caller_with_records(all_)) return;
    }
  }

  /// Gives up the P of a worker that found nothing to do, unless there is something after all. A worker without a P,
  /// whose strand came back from a blocking call, looks as well: another may have made a P idle while no thread could
  /// be woken for it.
  after_park park(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const bool had_processor = m.proc;
    bool was_spinning = false;
    {
      const locked lock(mutex_);
      if (had_processor) {
        if (any_ready() && !has_surplus()) return after_park::work;
        emit_event(m, event::park);
        ++m.count().parks;
        idle_.put_processor(*m.proc.replace(nullptr));
      }
      was_spinning = m.spinning.replace(false);
      if (stopping_) return after_park::end;
      idle_.put_thread(m);
    }
    // From here on the worker may be given a P at any time.
    if (!had_processor && parking_.is_turned_away()) return after_park::sleep;
    if (was_spinning) parking_.stop_spinning();
    return work_left() || timekeeper_.is_due(m) ? take_idle_processor(m) : after_park::sleep;
  }

  /// By a worker whose sleep has ended: it has a P, a timer may be due, it has polled waits, or the runtime ends.
  after_park awake(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const after_park next = after_sleep(m);
    scheduler_hooks::wake_polled(m, next == after_park::work);
    return next;
  }

  /// Gives up the P of a caller that goes back to its program: as hand_over, but without a look if it had the P for a
  /// visit that found no recheck flag (parking.hpp).
  void leave(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (!m.spinning) {
      const locked lock(mutex_);
      if (idle_.put_after_visit(*m.proc)) {
        m.proc = nullptr;
        return;
      }
    }
    hand_over(m, waker::goes_on);
  }

  /// Gives up the P of a caller that goes back to its program or waits for its job; others take over what there is.
  void hand_over(worker& m, waker then) noexcept FORKJOIN_EXCLUDES(mutex_) {
    worker* next = nullptr;
    {
      const locked lock(mutex_);
      next = handoff_.give_up(*m.proc.replace(nullptr));
    }
    if (m.spinning.replace(false)) parking_.stop_spinning();
    after_giving_up(next, then);
  }

  // Blocking calls.

  /// Takes the P of a strand that is in that blocking call, and gives it up as hand_over does. `only_with_thread`: not
  /// if no thread could run what there is.
  retaken retake(processor& p, std::uint64_t call, waker then, bool only_with_thread) noexcept
      FORKJOIN_EXCLUDES(mutex_) {
    retaken result{};
    worker* next = nullptr;
    {
      const locked lock(mutex_);
      result = handoff_.retake(p, call, only_with_thread, next);
    }
    if (result == retaken::taken) after_giving_up(next, then);
    return result;
  }

  /// A P for a worker whose strand came back too late: the one that it had, if that is idle, else another. False if
  /// none is.
  bool take_processor(worker& m, processor& lost) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    m.proc = idle_.take_processor(lost);
    return m.proc;
  }

  // Threads.

  /// Whether there is a thread of the runtime's own; tries to start one if not.
  bool ensure_thread() noexcept FORKJOIN_EXCLUDES(mutex_) {
    for (;; os::yield_thread()) {
      const locked lock(mutex_);
      if (budget_.any_started()) return true;
      if (!stopping_ && budget_.begin_start()) break;
      if (!budget_.any_starting()) return false;
    }
    worker* const m = threads_.start(waker::goes_on);
    {
      const locked lock(mutex_);
      budget_.end_start(m);
      m ? idle_.put_thread(*m) : note_refusal();
    }
    if (!m) threads_.end_rest_of_monitor();
    wake();  // for what became ready while no thread could be woken
    return m;
  }

  /// Before a job: the system may give what it refused before.
  void ask_for_threads_again() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    budget_.ask_again();
  }

  /// By the monitor, at each look: the same, and if something waits for a thread, it is started. Otherwise fibers that
  /// no job brought would wait for one for ever.
  void ask_for_refused_thread() noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (!is_short_.load(std::memory_order_relaxed)) return;
    {
      const locked lock(mutex_);
      budget_.ask_again();
      if (budget_.is_short()) return;
      is_short_.store(false, std::memory_order_relaxed);
    }
    if (timekeeper_.awaits_any() || work_left()) wake(waker::sleeps);
  }

  /// Whether the system has refused a thread, and the monitor has not asked for it again. Then it must not rest: what
  /// becomes ready later finds no thread to wake. seq_cst: the monitor's word says that it rests, then this is read;
  /// pairs with note_refusal, after which the monitor's rest ends.
  bool is_short() const noexcept { return is_short_.load(std::memory_order_seq_cst); }

  /// From now on no thread is started or woken, and a thread that parks ends. Waits for those that are being started.
  void stop() noexcept FORKJOIN_EXCLUDES(mutex_) {
    for (;; os::yield_thread()) {
      const locked lock(mutex_);
      stopping_ = true;
      if (!budget_.any_starting()) return;
    }
  }

  // Callers.

  /// A P for a caller that brings a job, and `f` back to run on it; without a P, `f` is ready for others, and nullptr.
  /// `waits`: the caller looks for a P for a moment, as most jobs of callers are brief, and workers that look for work
  /// give theirs up meanwhile.
  fiber* enter(worker& m, fiber& f, bool waits) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (waits && parking_.idle() == 0) wait_for_idle();
    const locked lock(mutex_);
    m.proc = idle_.take_for_visit();
    if (m.proc) return &f;
    // The next worker that gives up a P finds it: in sleep_for the caller says that it relies on that.
    ready_.push(f);
    return nullptr;
  }

  /// The caller sleeps until its job is over, or until it has a P, to look for what is ready or stealable of that
  /// job.
  void sleep_for(job& brought, worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    bool last_resort = false;
    {
      const locked lock(mutex_);
      if (!matching_.has_other_thread()) ready_.move_all_here(all_);
      if (idle_.has_processor() && ready_.any_of(brought)) {
        m.proc = idle_.take_processor();
        return;
      }
      idle_.put_caller(m);
      static_cast<void>(parking_.is_turned_away());  // relies on those that hold P
      last_resort = !idle_.has_thread() && (!budget_.any_left() || budget_.any_refused());
      if (last_resort) timekeeper_.tell_caller();
    }
    // Where there is a thread for every P, others look for records before they park. Else this caller must, as in park.
    const auto its_deques = [&](auto visit) {
      all_.for_each_deque([&](auto& d) {
        if (d.whose() == &brought) visit(d);
      });
    };
    if (last_resort && !parking::nothing_left(its_deques, [this] { heavy_fence(); })) take_idle_processor_as_caller(m);
    while (!has_come_back(brought, m)) {
      if (m.wakes_at != never && timekeeper_.is_due(m)) {
        take_idle_processor_as_caller(m);
      } else {
        m.sleep();
        scheduler_hooks::wake_polled(m, false);
      }
    }
    scheduler_hooks::placed(m);
    if (m.wakes_at == never) return;
    {
      const locked lock(mutex_);
      timekeeper_.release(m);
    }
    if (!timekeeper_.covers_all()) wake();
  }

  /// The job is over: its caller goes on, if it has one that is another thread. The job may be gone when this
  /// returns.
  void finish(job& over, worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    worker* const caller = over.caller;
    bool asleep = false;
    // Also without a caller that sleeps: the thread that took the job's last entry out of the queue wrote to the job
    // under this mutex, and the job's memory may be used for something else soon. An entry is pushed before its strand
    // ends.
    if (caller || over.ready.used()) {
      const locked lock(mutex_);
      asleep = caller && caller != &m && caller->asleep;
      if (asleep) scheduler_hooks::begin_placing(*caller);
    }
    if (asleep) scheduler_hooks::keep_off(*caller);
    // release: pairs with the acquires in has_come_back, loop.hpp: run, find.hpp: is_over and run.cpp: run_from_fiber,
    // so that the caller sees the result
    over.done.store(true, std::memory_order_release);
    if (!caller || caller == &m) return;
    caller->signal();
    if (asleep) scheduler_hooks::end_placing(*caller);
  }

 private:
  void after_giving_up(worker* next, waker then) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (next) {
      scheduler_hooks::place(*next, then);
    } else if (parking_.should_wake() && work_left()) {
      // As in park. A thread woken for nothing would hold the P when its next job comes, perhaps on its caller's
      // CPU.
      wake(then);
    } else if (!timekeeper_.covers_all()) {
      wake(then);
    }
  }

  // Whether a worker that spun has found all that there is: no other holds a P, so no other may fork, and nothing waits
  // for a P, a time or a descriptor. What others change is loaded seq_cst, after --spinning: those that relied on this
  // worker stored it before. What it has found forks on a deque that has a request, so it attends, and wakes.
  // PARKING.md, case 14.
  bool found_all(worker& m) const noexcept {
    return parking_.unheld() + 1 == static_cast<int>(all_.count()) && !any_ready() && m.proc->queue.empty() &&
           !timekeeper_.awaits_any();
  }

  match match_idle() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    return stopping_ ? match{} : matching_.take();
  }

  void wait_for_idle() noexcept {
    waiting_callers_.fetch_add(1, std::memory_order_relaxed);
    for (unsigned look = 0; look < tuning::caller_looks && parking_.idle() == 0; ++look) {
      // Several that spin would take the CPUs from those that have the P: with 8 threads the calls took 1.36
      // times as long.
      const bool alone = waiting_callers_.load(std::memory_order_relaxed) == 1;
      for (unsigned i = 0; alone && i < tuning::calm_pauses && parking_.idle() == 0; ++i) os::pause();
      if (parking_.idle() == 0) os::yield_thread();  // to a thread that has a P, perhaps
    }
    waiting_callers_.fetch_sub(1, std::memory_order_relaxed);
  }

  // Without the mutex: it takes the system about 50 us. The P is neither idle nor held meanwhile, and this thread
  // counts as one that spins.
  bool start_thread(processor& p, waker then) noexcept FORKJOIN_EXCLUDES(mutex_) {
    worker* const m = threads_.start(then);
    {
      const locked lock(mutex_);
      budget_.end_start(m);
      if (m) {
        m->spinning = true;
        m->proc = &p;
        ++p.count.wakeups;
        emit_wake(p, *m);
      } else {
        idle_.put_processor(p);
        note_refusal();
      }
    }
    m ? m->signal() : threads_.end_rest_of_monitor();
    return m;
  }

  // With the mutex; threads_.end_rest_of_monitor follows without it. seq_cst: pairs with the load in is_short
  void note_refusal() noexcept { is_short_.store(true, std::memory_order_seq_cst); }

  after_park after_sleep(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    {
      // A signal may be left over: without the mutex the worker could find a P that is being given to it, before the
      // thread that gives it counts as one that places it.
      const locked lock(mutex_);
      if (m.proc) {
        timekeeper_.release(m);
        return after_park::work;
      }
      if (stopping_) return after_park::end;
    }
    return m.polled.any() || timekeeper_.is_due(m) ? take_idle_processor(m) : after_park::sleep;
  }

  // By a worker that has parked, and then found something to do, unless another was faster: with no P idle, each P has
  // a worker that will see it.
  after_park take_idle_processor(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    timekeeper_.release(m);
    if (m.proc || parking_.is_turned_away()) return after_park::sleep;
    m.proc = idle_.take_processor();
    idle_.remove_thread(m);
    begin_spinning(m);
    return after_park::work;
  }

  void take_idle_processor_as_caller(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    timekeeper_.release(m);
    if (!m.asleep || parking_.is_turned_away()) return;
    idle_.remove_caller(m);
    m.proc = idle_.take_processor();
    begin_spinning(m);
  }

  // After a P has been given up: whether there is anything to do for it.
  bool work_left() noexcept {
    if (any_ready()) return true;
    // With every P idle no strand forks. The first fork of a worker that takes one shall attend, and see the sleepers.
    if (all_idle()) {
      all_.for_each_deque([](auto& d) { d.request(); });
      if (all_idle()) return false;
    }
    os::fence();  // the announcement, then the queues of all P: pairs with the fence in announce
    if (any_in_queues(all_)) return true;
    return !parking::nothing_left([this](auto visit) { all_.for_each_deque(visit); }, [this] { heavy_fence(); });
  }

  // Pairs with the light fence in push (forkjoin/abi/record.hpp). Where every push fences by itself (eager: attend in
  // fork/deque_owner.hpp), a plain fence is enough. One that a thread did not answer serves as well as it can: what
  // that thread stored before is long visible, but the proof does not cover it.
  void heavy_fence() noexcept {
    if (eager_) return os::fence();
    static_cast<void>(threads_.heavy_fence());
  }

  // One became ready, perhaps, while this thread counted as one that looks for it.
  void attend_urgent() noexcept {
    if (any_urgent() && all_busy()) ask_for_urgent(nullptr);
  }

  // Whether a strand runs there that may hear a request to give way; not on a P that is idle, or retired.
  static bool hears(const processor& p) noexcept { return p.count.busy.runs() && p.blocking.now() == 0; }

  bool may_serve(const processor& p, std::uint64_t now) const noexcept {
    return urgent_.any_left(in_use()) && p.urgent.any_left(now);
  }

  // Nothing if as many Ps as may serve already: the next that ends to serve takes the fiber. Leaves out Ps that do not
  // run strands, or that have not heard the last such request.
  void ask_for_urgent(processor* by) noexcept {
    const std::uint64_t now = os::rough_ns();
    const auto asks = [&](processor& p) {
      const std::uint32_t run = p.runs;
      if (!may_serve(p, now) || p.urgent.runs() || !hears(p) || p.urgent_request.concerns(run)) return false;
      time_slices::ask(p, p.urgent_request, run);
      return true;
    };
    if (!urgent_.any_left(in_use()) || (by && asks(*by))) return;
    for (unsigned i = 0; i < all_.count(); ++i)
      if (asks(all_[cuts_.fetch_add(1, std::memory_order_relaxed) % all_.count()])) return;
  }

  bool has_come_back(job& brought, worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    // acquire: pairs with the release in finish
    if (!m.proc && !brought.done.load(std::memory_order_acquire)) return false;
    if (m.asleep) idle_.remove_caller(m);
    return true;
  }

  void begin_spinning(worker& m) noexcept {
    m.spinning = true;
    parking_.start_spinning();
  }

  processors& all_;
  threads& threads_;
  poller& poller_;
  const bool eager_;
  os::atomic<unsigned> in_use_{all_.count()};
  os::atomic<unsigned> waiting_callers_{0};
  os::atomic<bool> notes_cuts_{false};
  os::atomic<unsigned> cuts_{0};        // the P that is asked next to give way
  os::atomic<std::int64_t> cut_at_{0};  // the last request by ready_soon, by os::now_ns
  os::atomic<bool> is_short_{false};    // of threads, as the budget knows
  parking parking_;

  alignas(cache_line) os::mutex mutex_;
  ready_queue ready_;  // its count is read without the mutex
  idle_lists idle_ FORKJOIN_GUARDED_BY(mutex_){parking_};
  detail::timekeeper timekeeper_{all_, mutex_, idle_, ready_, parking_, poller_};
  thread_budget budget_ FORKJOIN_GUARDED_BY(mutex_);
  matching matching_ FORKJOIN_GUARDED_BY(mutex_){all_, idle_, ready_, budget_};
  urgent_places urgent_;  // its count is read without the mutex
  handoff handoff_ FORKJOIN_GUARDED_BY(mutex_){all_, idle_, ready_, matching_, parking_, urgent_};
  bool stopping_ FORKJOIN_GUARDED_BY(mutex_) = false;
};

}}}  // namespace fj::v0_4::detail
