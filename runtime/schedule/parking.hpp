// When a worker may sleep, and which event wakes it. runtime/PARKING.md has the proof.
//
// The wake-up that would be lost: a worker looks at all deques, finds nothing, and goes to sleep; between its look and its
// sleep an owner forks, sees no worker asleep, and wakes none. From then on there is work and an idle P. Against it:
//
//   worker that parks                                  owner that forks
//   1. announces: ++idle, --spinning if it spun;       a. stores the record as newest
//      fences
//   2. sounds the alarm on every deque                 b. compiler fence
//   3. heavy fence                                     c. reads the alarm; if it is on:
//   4. looks at every deque                            d. takes it off, fences
//   5. sleeps if all are empty                         e. reads idle and spinning; publishes, wakes
//
// By the heavy fence either 4 sees the record of a, or c sees the alarm of 2. In the second case, by the acquire of d, e sees
// the announcement of 1. If an alarm of 2 comes between c and d, d takes it off, and e sees the announcement, too. If the alarm
// comes after d, the next push finds it, and the record of a is older than the look of 4.
//
// A spinning worker is responsible for all idle P: while one worker spins, an owner wakes no other. So a worker that stops
// spinning passes this on: if it found work, it wakes the next worker; if it gives up, it takes steps 1 to 5. Source: the
// comment "Worker thread parking/unparking" in Go's runtime/proc.go.
#pragma once

#include <atomic>

#include "../base/cache_line.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// What a worker does after dispatcher::park.
enum class after_park { work, sleep, end };

template <class Machine>
class basic_parking {
 public:
  // Counted under the dispatcher's mutex, read anywhere.

  void processor_idle() noexcept { idle_.fetch_add(1, std::memory_order_seq_cst); }
  void processor_taken() noexcept { idle_.fetch_sub(1, std::memory_order_seq_cst); }
  int idle() const noexcept { return idle_.load(std::memory_order_seq_cst); }

  /// Threads that could be woken or started for an idle P are there, or are not any longer.
  void thread_available(int n = 1) noexcept { threads_.fetch_add(n, std::memory_order_seq_cst); }
  void thread_taken(int n = 1) noexcept { threads_.fetch_sub(n, std::memory_order_seq_cst); }

  // Spinning.

  void start_spinning() noexcept { spinning_.fetch_add(1, std::memory_order_seq_cst); }

  void stop_spinning() noexcept { spinning_.fetch_sub(1, std::memory_order_seq_cst); }

  /// Go's limit: half as many spin as work, so that looking for work does not cost more than doing it.
  bool may_spin(int procs) const noexcept { return 2 * spinning_.load(std::memory_order_relaxed) < procs - idle(); }

  bool any_spinning() const noexcept { return spinning_.load(std::memory_order_relaxed) > 0; }

  /// Whether a worker waits for a record to become public. The owner fences before it asks (deque::attend).
  bool hungry() const noexcept {
    return spinning_.load(std::memory_order_relaxed) > 0 ||
           (idle() > 0 && threads_.load(std::memory_order_relaxed) > 0);
  }

  /// Whether a worker should be woken for new work: some P is idle and no worker spins.
  bool should_wake() const noexcept { return idle() > 0 && spinning_.load(std::memory_order_seq_cst) == 0; }

  /// Takes it upon the caller to wake one, as spinning. False if another is at it, or none should be woken.
  bool begin_waking() noexcept {
    int none = 0;
    return should_wake() && spinning_.compare_exchange_strong(none, 1, std::memory_order_seq_cst);
  }

  /// Steps 2 to 4 above, after the announcement: whether the worker may sleep. `for_each_deque` calls what it is given with the
  /// active deque of every P. `eager`: every push fences by itself, so a plain fence is enough here.
  template <class ForEach>
  static bool nothing_left(ForEach for_each_deque, bool eager) {
    // Between the announcement and the loads by which deques are found: pairs with the fence in attend. An owner that has not
    // seen the announcement opened its deque before, and that is the one found here.
    Machine::fence();
    for_each_deque([](auto& d) { d.alarm(); });
    if (eager) {
      Machine::fence();
    } else {
      Machine::heavy_fence();
    }
    bool empty = true;
    for_each_deque([&](auto& d) { empty = empty && d.looks_empty(); });
    return empty;
  }

 private:
  using count = typename Machine::template atomic<int>;

  alignas(cache_line) count idle_{0};  // P
  count threads_{0};
  count spinning_{0};
};

}}}  // namespace fj::v0_2::detail
