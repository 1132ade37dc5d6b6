#include "forkjoin/abi/waiter.hpp"

#include <optional>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/wait/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

waiter_base::waiter_base(const wait_limits& limits)
    : timer(limits.until),
      scheduler_(wait_hooks::prepare_to_wait(limits.until)),
      stop_(limits.stop),
      place_(limits.place) {}

void waiter_base::wake_waiter(precedence its) noexcept {
  scheduler* const of = scheduler_;
  if (!of) {
    // release: pairs with the acquires in sleep_outside and, below, in sleep_for_good
    signalled_.store(1, std::memory_order_release);
    os::futex_wake(signalled_);
    return;
  }
  if (auto* const f = static_cast<fiber*>(word_.wake())) wait_hooks::resume(*of, *f, its);
}

void waiter_base::set_aside_again() noexcept {
  if (scheduler_) keeps_worker_ = !wait_hooks::prepare_again(at);
}

inline void waiter_base::sleep_outside() noexcept {
  if (at == never) return wait_hooks::sleep_for_good(signalled_, place_);
  const wait_hooks::outside_for_more counted;
  std::int64_t until = at;
  // acquire: pairs with the release in wake_waiter
  while (signalled_.load(std::memory_order_acquire) == 0) {
    if (until == never) {
      os::futex_wait(signalled_, 0);
    } else if (!os::futex_wait_until(signalled_, 0, until)) {
      if (claim(timed_out)) return;
      until = never;  // another has claimed the wait, and will wake this thread
    }
  }
}

// What wakes the strand may need the P, so it tries to leave again and again.
inline bool waiter_base::keep_worker_until_woken() noexcept {
  while (!word_.woken()) {
    if (at != never && os::now_ns() >= at && claim(timed_out)) return true;
    if (wait_hooks::prepare_again(at)) return false;
    os::yield_thread();
  }
  return true;
}

inline void waiter_base::leave_until_woken() noexcept {
  if (!word_.woken()) {
    wait_hooks::suspend(
        *scheduler_, place_,
        [](worker&, fiber& f, void* word) noexcept -> fiber* {
          const os::unseen_by_detector pause;  // the word lies in the frame of the strand
          return static_cast<wait_word*>(word)->suspend(&f) ? nullptr : &f;
        },
        &word_);
  }
  // acquire: pairs with the release in forkjoin/abi/waiter.hpp: wake, so that this strand sees what the claimant wrote
  static_cast<void>(word_.woken());
}

unsigned waiter_base::wait() noexcept {
  std::optional<wait_hooks::stop_callback<stops>> callback;
  if (stop_) callback.emplace(*stop_, stops{*this});
  if (!scheduler_) {
    sleep_outside();
  } else if (keeps_worker_ && keep_worker_until_woken()) {
    // over
  } else if (at == never) {
    leave_until_woken();
  } else {
    // Also if the deadline has passed: a strand that waits again and again lets others run.
    auto& armed_in = wait_hooks::arm(*this);  // the strand may go on at another P
    leave_until_woken();
    if (word_.winner() != timed_out) armed_in.disarm(*this);
  }
  if (scheduler_ && stop_ && stop_->stop_requested()) wait_hooks::come_after_stop();
  return word_.winner();
}

}}}  // namespace fj::v0_4::detail

#ifndef FORKJOIN_MACHINE  // the steps, here so that compilers see both: a switch costs some hundred instructions

#include <new>

#include "runtime/base/random.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/sched/thread_order.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

scheduler* wait_hooks::prepare_to_wait(std::int64_t until) {
  worker* const m = current_worker();
  if (!m) return nullptr;
  if (!prepare_to_wait_for_others(*m)) throw std::bad_alloc();
  if (until != never) m->proc->timers.make_room();
  return &m->sched();
}

bool wait_hooks::prepare_again(std::int64_t until) noexcept {
  worker& m = *current_worker();
  if (!prepare_to_wait_for_others(m)) return false;
  if (until == never) return true;
  try {
    m.proc->timers.make_room();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

timer_heap& wait_hooks::arm(timer& t) noexcept {
  worker& m = *current_worker();
  timer_heap& here = m.proc->timers;
  m.sched().dispatcher().timekeeper().arm(m, t);
  return here;
}

[[gnu::always_inline]] inline void wait_hooks::suspend(scheduler& of, const wait_place& place,
                                                       fiber* (*then)(worker&, fiber&, void*) noexcept,
                                                       void* argument) noexcept {
  fiber& here = *current_fiber();
  here.waits.show(place);
  of.monitor().watch();  // once it is woken it may wait for a P
  ++current_worker()->count().suspensions;
  emit_wait(*current_worker(), place);
  leave(then, argument);
  here.waits.hide();
}

void wait_hooks::resume(scheduler& of, fiber& f, precedence its) noexcept {
  f.becomes(fiber_state::runnable);
  emit_ready(of, f);
  make_ready(of, f, its);
}

void wait_hooks::come_after_stop() noexcept { detail::come_after_stop(*current_worker()); }

namespace {

// Apart, because strands that share a thread must not share the variable that says whether these have been made.
[[gnu::noinline]] random& dice_of_thread() noexcept {
  thread_local random outside(os::turns::mine() ? 1 : reinterpret_cast<std::uintptr_t>(&outside));
  return outside;
}

}  // namespace

unsigned wait_hooks::random_below(unsigned n) noexcept {
  worker* const m = current_worker();
  return (m ? m->dice : dice_of_thread()).below(n);
}

void wait_hooks::sleep_for_good(std::atomic<std::uint32_t>& word, const wait_place& place) noexcept {
  outside_sleeper here(place, word, [](const std::atomic<std::uint32_t>& woken) noexcept {
    // acquire: pairs with the release in waiter_base::wake_waiter
    return woken.load(std::memory_order_acquire) != 0;
  });
  while (!here.looks.sleep(word)) here.look();
}

}}}  // namespace fj::v0_4::detail

#endif
