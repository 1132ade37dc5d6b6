// Which worker fires the timers of all P and looks into the poller; and the timekeeper, the parked worker that wakes in
// time for the first timer.
//
// A worker that holds a P fires that P's timers whenever it takes up a fiber; a worker that spins fires those of every
// P; each tuning::ticks_per_look-th time, any worker fires those of every P. If no worker does either, a parked worker
// must wake by itself. One is enough, the timekeeper: it sleeps until the first timer is due, and `wakes_at` has that
// time. The wake-up that would be lost: a worker that parks reads the times of all P, and goes to sleep until the
// earliest; then a strand arms an earlier timer, and its worker does not see that the timekeeper wakes too late.
// Against it, as in parking.hpp:
//
//   worker that takes up a fiber, or makes its P idle        worker that parks
//   a. its P's first timer has been armed: `earliest`        1. announces: ++idle, --spinning if it spun
//   b. reads wakes_at; if that is no later than              2. reads `earliest` of every P; works if it has come
//      `earliest`, done                                      3. is the timekeeper if the present one, if any, wakes
//   c. reads idle and spinning: if no P is idle, or a           later: stores wakes_at
//      worker spins, done                                    4. reads `earliest` of every P again; if one is before
//   d. tells the timekeeper, else another worker that           wakes_at, goes back to 2
//      sleeps; else wakes or starts one                      5. sleeps until wakes_at
//
// All of these are sequentially consistent. So 2 or 4 sees the timer of a, or b and c see 3 and 1: PARKING.md has the
// proof. While no P is idle there is no timekeeper: the monitor serves timers, and such a worker tells it, too
// (monitor_word.hpp). Once a strand has waited for a descriptor, the timekeeper sleeps in the poller, where events end
// its sleep, too. A strand that waits for a descriptor counts as a timer that may be due at any time, `any_time`. So by
// the same argument there is a timekeeper while the strand waits. Only the timekeeper sleeps in the poller, and a
// worker stays the timekeeper until it is awake. Source: Go's runtime/proc.go: findRunnable's pollUntil and netpoll,
// wakeNetPoller, checkTimers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/parking.hpp"
#include "runtime/sched/queues.hpp"
#include "runtime/sched/timer_heap.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class timekeeper {
 public:
  /// `guard`: the dispatcher's mutex, which guards `sleepers`, too.
  timekeeper(processors& all, os::mutex& guard, idle_lists& sleepers, const ready_queue& ready, parking& counts,
             poller& events) noexcept
      : all_(all), mutex_(guard), idle_(sleepers), ready_(ready), parking_(counts), poller_(events) {}

  /// By a strand on `m`, which leaves it next. There is room in the heap.
  void arm(worker& m, timer& t) noexcept {
    note_use();
    m.proc->timers.arm(t);
  }

  /// By a strand that waits for a descriptor: from before it leaves its worker until it goes on.
  void begin_poll_wait() noexcept {
    note_use();
    poller_.begin_wait();
  }
  void end_poll_wait() noexcept { poller_.end_wait(); }

  /// After the poller has been opened: a timekeeper that sleeps elsewhere comes there.
  void poller_is_open() noexcept FORKJOIN_EXCLUDES(mutex_) {
    worker* told = nullptr;
    {
      const locked lock(mutex_);
      told = timekeeper_;
    }
    if (told) told->signal();
  }

  // Workers that hold a P. In a runtime without timers and descriptors each of these is one load.

  /// Before the worker takes up a fiber or looks for one: fires what is due at its P. True if something was.
  bool fire_own(worker& m) noexcept {
    if (!used_.load(std::memory_order_relaxed)) return false;
    if (++m.proc->looks_at_timers % tuning::ticks_per_look == 0) {
      // While fibers wait in the ready queue each look would put others before them: from that queue a worker with
      // fibers in its ring takes one in 61. So the monitor looks, if there is one.
      const bool polled = !(ready_.any() && scheduler_hooks::is_watched(m)) && poller_.poll();
      return fire_all() || polled;
    }
    return !m.proc->timers.is_empty_now() && m.proc->timers.fire_due(os::now_ns());
  }

  /// By a worker that looks for work.
  bool fire_all() noexcept {
    if (!used_.load(std::memory_order_relaxed)) return false;
    bool any = false;
    std::int64_t now = 0;
    for (unsigned i = 0; i < all_.count(); ++i) {
      auto& timers = all_[i].timers;
      if (timers.is_empty_now()) continue;
      if (now == 0) now = os::now_ns();
      any |= timers.fire_due(now);
    }
    return any;
  }

  /// Steps a to d: false if the caller must wake a worker.
  [[nodiscard]] bool covers(std::int64_t first) noexcept FORKJOIN_EXCLUDES(mutex_) {
    if (in_time(first) || !parking_.should_wake()) return true;
    worker* told = nullptr;
    {
      const locked lock(mutex_);
      if (in_time(first)) return true;
      told = timekeeper_ ? timekeeper_ : idle_.last_thread();
      if (told) appoint(*told, first);
    }
    if (told) told->signal();
    return told;
  }
  [[nodiscard]] bool covers_own(worker& m) noexcept {
    if (!used_.load(std::memory_order_relaxed)) return true;
    const std::int64_t first = m.proc->timers.is_empty_now() ? never : m.proc->timers.earliest();
    if (first != never && parking_.idle() == 0) scheduler_hooks::monitor_wakes_by(m, first);
    return covers(poller_.awaited() ? (std::min)(first, any_time) : first);
  }
  /// Of all P, when the worker's own is idle.
  [[nodiscard]] bool covers_all() noexcept { return covers(earliest()); }

  /// Where no thread can be had but callers that sleep: one of them is told. Under the dispatcher's mutex.
  void tell_caller() noexcept {
    const std::int64_t first = earliest();
    worker* const told = timekeeper_ ? timekeeper_ : idle_.callers().first();
    if (!told || in_time(first)) return;
    appoint(*told, first);
    told->signal();
  }

  // Workers that sleep.

  /// Steps 2 to 4, by a worker that has announced itself: true if a timer is due. Else the worker may be the
  /// timekeeper.
  bool is_due(worker& m) noexcept FORKJOIN_EXCLUDES(mutex_) {
    for (;;) {
      const std::int64_t first = earliest();
      if (first == never && m.wakes_at == never) return false;
      if (first <= os::now_ns()) return true;
      worker* other = nullptr;
      {
        const locked lock(mutex_);
        if (m.proc) return false;
        if (timekeeper_ != &m && in_time(first)) {
          m.wakes_at = never;
          return false;
        }
        if (timekeeper_ != &m && poller_.is_open()) other = timekeeper_;  // it keeps its place in the poller
        if (other) m.wakes_at = never;
        first == never ? release(m) : appoint(other ? *other : m, first);
      }
      if (other) {
        other->signal();
        return false;
      }
      if (earliest() >= first) return false;
    }
  }

  /// The worker does not sleep any longer, or not for timers. Under the dispatcher's mutex.
  void release(worker& m) noexcept {
    m.wakes_at = never;
    if (timekeeper_ != &m) return;
    timekeeper_ = nullptr;
    wakes_at_.store(never, std::memory_order_seq_cst);  // pairs with the load in in_time
  }

  /// Whether a strand waits for a time or a descriptor. By any thread.
  bool awaits_any() const noexcept { return earliest() != never; }

  /// When the first timer of all P is due; `any_time` if none is, but a strand waits for a descriptor.
  std::int64_t earliest() const noexcept {
    std::int64_t first = never;
    if (!used_.load(std::memory_order_seq_cst)) return first;  // seq_cst: pairs with the store in note_use
    if (poller_.awaited()) first = any_time;
    for (unsigned i = 0; i < all_.count(); ++i) first = (std::min)(first, all_[i].timers.earliest());
    return first;
  }

 private:
  // seq_cst: b; pairs with the stores in appoint and release
  bool in_time(std::int64_t first) const noexcept { return wakes_at_.load(std::memory_order_seq_cst) <= first; }

  // seq_cst: before a; pairs with the load in earliest, by which a worker that parks learns whether there may be a
  // timer
  void note_use() noexcept {
    if (!used_.load(std::memory_order_relaxed)) used_.store(true, std::memory_order_seq_cst);
  }

  // seq_cst: 3, or d for another worker; pairs with the load in in_time
  void appoint(worker& m, std::int64_t at) noexcept {
    timekeeper_ = &m;
    m.wakes_at = at;
    wakes_at_.store(at, std::memory_order_seq_cst);
  }

  processors& all_;
  os::mutex& mutex_;
  idle_lists& idle_;
  const ready_queue& ready_;
  parking& parking_;
  poller& poller_;
  alignas(cache_line) os::atomic<bool> used_{false};  // whether a strand ever waited for a time or an event
  os::atomic<std::int64_t> wakes_at_{never};          // of the timekeeper; `never`: there is none
  worker* timekeeper_ = nullptr;                      // under the dispatcher's mutex
};

}}}  // namespace fj::v0_4::detail
