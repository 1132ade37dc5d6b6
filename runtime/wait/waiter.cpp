#include "runtime/wait/waiter.hpp"

#include <new>
#include <optional>

#include "runtime/fork/current.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/wait/outside.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"
#include "runtime/workers/thread_order.hpp"

namespace fj::inline v0_1::detail {

namespace {

scheduler* scheduler_of_strand(std::int64_t until) {
  worker* const m = current_worker();
  if (!m) return nullptr;
  if (!prepare_to_wait_for_others(*m)) throw std::bad_alloc();
  if (until != never) m->proc->timers.make_room();
  return &m->sched();
}

struct stops {
  waiter& of;
  void operator()() const noexcept {
    if (of.claim(waiter::stopped)) of.wake();
  }
};

}  // namespace

waiter::waiter(const wait_limits& limits)
    : basic_timer(limits.until),
      scheduler_(scheduler_of_strand(limits.until)),
      stop_(limits.stop),
      place_(limits.place) {}

void waiter::set_aside_again() noexcept {
  if (scheduler_) keeps_worker_ = !prepare_to_wait_for_others(*current_worker());
}

void waiter::wake() noexcept {
  scheduler* const s = scheduler_;
  if (!s) {
    // release: pairs with the acquire in sleep_outside
    signalled_.store(1, std::memory_order_release);
    os::futex_wake(signalled_);
    return;
  }
  auto* const f = static_cast<fiber*>(word_.wake());
  if (!f) return;
  f->becomes(fiber_state::runnable);
  make_ready(*s, *f);
}

unsigned waiter::wait() noexcept {
  std::optional<std::stop_callback<stops>> callback;
  if (stop_) callback.emplace(*stop_, stops{*this});
  if (!scheduler_) {
    sleep_outside();
  } else if (at == never) {
    leave_until_woken();
  } else {
    // Also if the deadline has passed: a strand that waits again and again lets others run.
    timer_heap& armed_in = current_worker()->proc->timers;
    current_worker()->sched().dispatcher().timekeeper().arm(*current_worker(), *this);
    leave_until_woken();
    if (word_.winner() != timed_out) armed_in.disarm(*this);
  }
  if (scheduler_ && stop_ && stop_->stop_requested()) come_after_stop(*current_worker());
  return word_.winner();
}

void waiter::sleep_outside() noexcept {
  if (at == never) return sleep_outside_for_good();
  const waits_outside_for_more counted;
  std::int64_t until = at;
  // acquire: pairs with the release in wake
  while (signalled_.load(std::memory_order_acquire) == 0) {
    if (until == never) {
      os::futex_wait(signalled_, 0);
    } else if (!os::futex_wait_until(signalled_, 0, until)) {
      if (claim(timed_out)) return;
      until = never;  // another has claimed the wait, and will wake this thread
    }
  }
}

void waiter::sleep_outside_for_good() noexcept {
  const auto is_woken = [](const void* word) noexcept {
    // acquire: pairs with the release in wake
    return static_cast<const std::atomic<std::uint32_t>*>(word)->load(std::memory_order_acquire) != 0;
  };
  outside_sleeper here(place_, is_woken, &signalled_);
  while (!here.looks.sleep(signalled_)) here.look();
}

void waiter::leave_until_woken() noexcept {
  while (keeps_worker_ && !word_.woken()) os::yield_thread();
  if (!word_.woken()) {
    fiber& here = *current_fiber();
    here.waits.show(place_);
    scheduler_->monitor().watch();  // once it is woken it may wait for a P
    ++current_worker()->count().suspensions;
    leave(
        [](worker&, fiber& f, void* word) noexcept -> fiber* {
          const os::unseen_by_detector pause;  // the word lies in the frame of the strand
          return static_cast<basic_wait_word<machine>*>(word)->suspend(&f) ? nullptr : &f;
        },
        &word_);
    here.waits.hide();
  }
  static_cast<void>(word_.woken());  // acquire: what the claimant wrote is visible to this strand
}

}  // namespace fj::inline v0_1::detail
