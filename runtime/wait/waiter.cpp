#include "runtime/wait/waiter.hpp"

#include <new>

#include "runtime/fork/current.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/sched/thread_order.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

scheduler* waiter_system::prepare_to_wait(std::int64_t until) {
  worker* const m = current_worker();
  if (!m) return nullptr;
  if (!prepare_to_wait_for_others(*m)) throw std::bad_alloc();
  if (until != never) m->proc->timers.make_room();
  return &m->sched();
}

bool waiter_system::prepare_again() noexcept { return prepare_to_wait_for_others(*current_worker()); }

basic_timer_heap<machine>& waiter_system::arm(timer& t) noexcept {
  worker& m = *current_worker();
  timer_heap& here = m.proc->timers;
  m.sched().dispatcher().timekeeper().arm(m, t);
  return here;
}

void waiter_system::suspend(scheduler& of, const wait_place& place, fiber* (*then)(worker&, fiber&, void*) noexcept,
                            void* argument) noexcept {
  fiber& here = *current_fiber();
  here.waits.show(place);
  of.monitor().watch();  // once it is woken it may wait for a P
  ++current_worker()->count().suspensions;
  leave(then, argument);
  here.waits.hide();
}

void waiter_system::resume(scheduler& of, fiber& f) noexcept {
  f.becomes(fiber_state::runnable);
  make_ready(of, f);
}

void waiter_system::come_after_stop() noexcept { detail::come_after_stop(*current_worker()); }

void waiter_system::yield_thread() noexcept { os::yield_thread(); }

void waiter_system::futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  os::futex_wait(word, expected);
}

bool waiter_system::futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                     std::int64_t until) noexcept {
  return os::futex_wait_until(word, expected, until);
}

void waiter_system::futex_wake(std::atomic<std::uint32_t>& word) noexcept { os::futex_wake(word); }

void waiter_system::sleep_for_good(std::atomic<std::uint32_t>& word, const wait_place& place) noexcept {
  const auto is_woken = [](const void* about) noexcept {
    // acquire: pairs with the release in basic_waiter::wake
    return static_cast<const std::atomic<std::uint32_t>*>(about)->load(std::memory_order_acquire) != 0;
  };
  outside_sleeper here(place, is_woken, &word);
  while (!here.looks.sleep(word)) here.look();
}

template class basic_waiter<waiter_system>;

}}}  // namespace fj::v0_2::detail
