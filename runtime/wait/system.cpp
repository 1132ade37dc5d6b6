#include "runtime/wait/system.hpp"

#include <new>

#include "runtime/base/random.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/sched/thread_order.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

scheduler* wait_system::prepare_to_wait(std::int64_t until) {
  worker* const m = current_worker();
  if (!m) return nullptr;
  if (!prepare_to_wait_for_others(*m)) throw std::bad_alloc();
  if (until != never) m->proc->timers.make_room();
  return &m->sched();
}

bool wait_system::prepare_again() noexcept { return prepare_to_wait_for_others(*current_worker()); }

timer_heap& wait_system::arm(timer& t) noexcept {
  worker& m = *current_worker();
  timer_heap& here = m.proc->timers;
  m.sched().dispatcher().timekeeper().arm(m, t);
  return here;
}

void wait_system::suspend(scheduler& of, const wait_place& place, fiber* (*then)(worker&, fiber&, void*) noexcept,
                          void* argument) noexcept {
  fiber& here = *current_fiber();
  here.waits.show(place);
  of.monitor().watch();  // once it is woken it may wait for a P
  ++current_worker()->count().suspensions;
  leave(then, argument);
  here.waits.hide();
}

void wait_system::resume(scheduler& of, fiber& f) noexcept {
  f.becomes(fiber_state::runnable);
  make_ready(of, f);
}

void wait_system::come_after_stop() noexcept { detail::come_after_stop(*current_worker()); }

namespace {

// Apart, because strands that share a thread must not share the variable that says whether these have been made.
[[gnu::noinline]] random& dice_of_thread() noexcept {
  thread_local random outside(reinterpret_cast<std::uintptr_t>(&outside));
  return outside;
}

}  // namespace

unsigned wait_system::random_below(unsigned n) noexcept {
  worker* const m = current_worker();
  return (m ? m->dice : dice_of_thread()).below(n);
}

void wait_system::sleep_for_good(std::atomic<std::uint32_t>& word, const wait_place& place) noexcept {
  const auto is_woken = [](const void* about) noexcept {
    // acquire: pairs with the release in waiter_base::wake
    return static_cast<const std::atomic<std::uint32_t>*>(about)->load(std::memory_order_acquire) != 0;
  };
  outside_sleeper here(place, is_woken, &word);
  while (!here.looks.sleep(word)) here.look();
}

}}}  // namespace fj::v0_2::detail
