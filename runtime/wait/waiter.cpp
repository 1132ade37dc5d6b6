#include "runtime/wait/waiter.hpp"

#include <new>

#include "runtime/fork/current.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/race_detector.hpp"
#include "runtime/workers/execute.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

namespace {

scheduler* scheduler_of_strand() {
  worker* const m = current_worker();
  if (!m) return nullptr;
  if (!prepare_to_wait_for_others(*m)) throw std::bad_alloc();
  return &m->sched();
}

}  // namespace

waiter::waiter() : scheduler_(scheduler_of_strand()) {}

void waiter::wake() noexcept {
  scheduler* const s = scheduler_;
  if (!s) {
    // release: pairs with the acquire in wait
    signalled_.store(1, std::memory_order_release);
    os::futex_wake(signalled_);
    return;
  }
  auto* const f = static_cast<fiber*>(word_.wake());
  if (!f) return;
  const scheduler::guest counted(*s);  // the strand may go on and end its runtime before ready returns
  f->becomes(fiber_state::runnable);
  make_ready(*s, *f);
}

unsigned waiter::wait() noexcept {
  if (!scheduler_) {
    // acquire: pairs with the release in wake
    while (signalled_.load(std::memory_order_acquire) == 0) os::futex_wait(signalled_, 0);
    return word_.winner();
  }
  if (!word_.woken()) {
    ++current_worker()->count().suspensions;
    leave(
        [](worker&, fiber& f, void* word) noexcept -> fiber* {
          const os::unseen_by_detector pause;  // the word lies in the frame of the strand
          return static_cast<basic_wait_word<machine>*>(word)->suspend(&f) ? nullptr : &f;
        },
        &word_);
  }
  static_cast<void>(word_.woken());  // acquire: what the claimant wrote is visible to this strand
  return word_.winner();
}

}  // namespace fj::inline v0_1::detail
