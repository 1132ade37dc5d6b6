// How the monitor sleeps, and how a worker has it wake in time for a timer.
//
// While all P run strands that compute, no worker fires timers. The monitor does, and sleeps no longer than until the
// first of them. The wake-up that would come too late: the monitor reads the times of all P, and goes to sleep for
// long; then a strand arms an earlier timer, and its worker does not see that the monitor wakes too late. Against it,
// as in timekeeper.hpp:
//
//   worker that takes up a fiber                       monitor
//   a. its P's first timer has been armed: `earliest`  1. takes back a poke
//   b. reads wakes_at; if that is early enough, done   2. stores wakes_at, as late as it may be
//   c. pokes: changes the word, and wakes the futex    3. reads `earliest` of every P; stores it in wakes_at if sooner
//      or ends the await, as the word said             4. sleeps until wakes_at, or until the word changes
//
// All of these are sequentially consistent. A b that reads what an earlier sleep stored comes before 2, so 3 sees the
// timer of a. A b that reads what 2 or 3 stored sees whether that is early enough. A poke between 1 and 4 has changed
// the word, so 4 does not sleep; one that came before 1 comes before 2, too, and 3 sees its timer.
//
// While strands wait for descriptors, the monitor sleeps at the poller instead, where events wake it. The word says so
// before it does: who changes the word knows where it sleeps. The end of an await that comes late ends the next one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What the monitor does, on which it sleeps.
class monitor_word {
 public:
  enum doing : std::uint32_t { unstarted, watching, awaiting, poked, resting, ending };

  /// By the monitor, which watches or has been poked: sleeps for `delay` nanoseconds at most, and until about first(),
  /// the time of the first timer. It serves timers that follow one another quickly together. Steps 1 to 4 above.
  /// With a poller, which is open, it sleeps there; true if an event ended that. Asks of it `await` and `end_await` as
  /// sched/poller.hpp has them.
  template <class First, class Poller>
  bool sleep(std::int64_t delay, First first, Poller* poller) noexcept {
    std::uint32_t was = poked;
    word_.compare_exchange_strong(was, watching, std::memory_order_seq_cst);
    const std::int64_t now = os::now_ns();
    std::int64_t until = now + delay;
    wakes_at_.store(until, std::memory_order_seq_cst);  // 2; pairs with the load in wake_by
    const std::int64_t due = (std::max)(first(), now + timer_delay_ns_);
    if (due < until) wakes_at_.store(until = due, std::memory_order_seq_cst);  // 3; likewise
    if (!poller) {
      os::futex_wait_until(word_, watching, until);
      return false;
    }
    was = watching;  // seq_cst, here and below: pairs with the changes of the word in wake_by and end
    if (!word_.compare_exchange_strong(was, awaiting, std::memory_order_seq_cst)) return false;
    const bool event = poller->await(until);
    was = awaiting;
    word_.compare_exchange_strong(was, watching, std::memory_order_seq_cst);
    return event;
  }

  /// By a worker: the monitor is to wake at that time, or a little later: b and c above.
  template <class Poller>
  void wake_by(std::int64_t time, Poller& poller) noexcept {
    if (wakes_at_.load(std::memory_order_seq_cst) - timer_delay_ns_ <= time) return;
    for (std::uint32_t was = watching; was == watching || was == awaiting;) {  // seq_cst: pairs with those in sleep
      if (!word_.compare_exchange_weak(was, poked, std::memory_order_seq_cst)) continue;
      return end_sleep(was, poller);
    }
  }

  /// By the monitor: to rest. False if it is to end, or if the thread that starts it has not yet said that it watches,
  /// and would say so, without a wake-up, to one that rests. A poke is for a timer, which another one keeps while it
  /// rests.
  bool begin_rest() noexcept {
    // seq_cst: the story of monitor.cpp: rest
    for (std::uint32_t was = watching; was == watching || was == poked;)
      if (word_.compare_exchange_weak(was, resting, std::memory_order_seq_cst)) return true;
    return false;
  }

  /// The monitor is to end. Returns what it did.
  template <class Poller>
  std::uint32_t end(Poller& poller) noexcept {
    // seq_cst: pairs with the changes in sleep and begin_rest, and with the loads in monitor.cpp: watch_all and rest
    const std::uint32_t was = word_.exchange(ending, std::memory_order_seq_cst);
    end_sleep(was, poller);
    return was;
  }

  /// From now on it lets no more than that be between two wake-ups for timers.
  void use_timer_delay(std::int64_t ns) noexcept { timer_delay_ns_ = ns; }

  /// For the other changes of what the monitor does.
  os::atomic<std::uint32_t>& word() noexcept { return word_; }
  const os::atomic<std::uint32_t>& word() const noexcept { return word_; }

 private:
  // The word, which said what it was, says something else now.
  template <class Poller>
  void end_sleep(std::uint32_t was, Poller& poller) noexcept {
    was == awaiting ? poller.end_await() : os::futex_wake(word_);
  }

  os::atomic<std::uint32_t> word_{unstarted};
  os::atomic<std::int64_t> wakes_at_{0};  // by os::now_ns; of the last sleep
  relaxed<std::int64_t> timer_delay_ns_ = tuning::timer_delay_ns;
};

}}}  // namespace fj::v0_4::detail
