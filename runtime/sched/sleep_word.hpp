// How a worker sleeps, and how another worker ends its sleep: on a futex, or in the poller.
//
// The wake-up that would be lost: a worker sees no signal, and goes to sleep in the poller. Meanwhile another worker
// signals it, assumes that it sleeps on its futex, and wakes the futex. Against it:
//
//   worker that sleeps in the poller              worker that signals
//   1. in_poller = true                           a. signalled = 1
//   2. reads signalled; sleeps if it is 0         b. reads in_poller; interrupts the poller if it is true,
//   3. in_poller = false                             else wakes the futex
//   4. takes signalled; sleeps again if it is 0
//
// All of these are sequentially consistent, so 2 sees the signal of a, or b sees 1. An interrupt stays until a worker
// sleeps in the poller. So it may come before step 2 ends. If it comes late, it wakes the next worker that sleeps
// there, which then sleeps again. If b reads the true of 1 although the worker has left the poller, b comes before 3,
// so 4 sees the signal. A futex looks at signalled itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/os/machine.hpp"
#include "runtime/sched/timer_heap.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Asks of a poller `is_open`, `sleep` and `interrupt` as sched/poller.hpp has them.
class sleep_word {
 public:
  /// Until a signal, until the time `until`, or until the poller gives the caller waits to wake. A worker with such a
  /// time sleeps in the poller if that is open. A change of either comes with a signal. Signals do not add up, and one
  /// may be left over from an earlier sleep. The exchange is 4 above, or the first look; then come 1 to 3.
  template <class Poller, class Waits>
  void sleep(std::int64_t until, Poller& poller, Waits& woken) noexcept {
    const bool polls = until != never && poller.is_open();
    while (signalled_.exchange(0, std::memory_order_seq_cst) == 0) {
      if (polls) {
        // 1 to 3: the stores pair with the load in signal, the load with the store there
        in_poller_.store(true, std::memory_order_seq_cst);
        if (signalled_.load(std::memory_order_seq_cst) == 0) poller.sleep(woken, until);
        in_poller_.store(false, std::memory_order_seq_cst);
        if (woken.any() || os::now_ns() >= until) return;
      } else if (until == never) {
        os::futex_wait(signalled_, 0);
      } else if (!os::futex_wait_until(signalled_, 0, until)) {
        return;
      }
    }
  }

  /// Orders what the caller did before what follows the sleep: a and b above; a pairs with the exchange in sleep.
  template <class Poller>
  void signal(Poller& poller) noexcept {
    signalled_.store(1, std::memory_order_seq_cst);
    in_poller_.load(std::memory_order_seq_cst) ? poller.interrupt() : os::futex_wake(signalled_);
  }

  /// Not 0 once a signal has come that no sleep has taken yet.
  auto& signalled() noexcept { return signalled_; }

 private:
  os::atomic<std::uint32_t> signalled_{0};
  os::atomic<bool> in_poller_{false};
};

}}}  // namespace fj::v0_4::detail
