#include "runtime/sched/worker.hpp"

#include "runtime/os/interrupt.hpp"
#include "runtime/os/stop_threads.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/trace/emit.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

void serve_here(thread_hooks& hooks) noexcept {
  worker& m = *current_worker();
  hooks.serves(m.hooks_seen, !m.is_caller());
}

// A look for a standstill (deadlock_report.cpp) takes the thread for one that sleeps while the count is odd and no
// signal is there. So a signal is taken, by the sleep at the end, only when the count is even again.
void worker::sleep() noexcept {
  if (thread_hooks* const hooks = scheduler_->hooks(); hooks && !is_caller()) hooks->rests(hooks_seen, true);
  end_light_fences();
  os::note_rest(true);
  if (wakes_at == never) {
    const std::uint64_t before = sleeps_.load(std::memory_order_relaxed);
    // seq_cst, here and below: pairs with the loads in sleeps_for_good, so that the thread that looks sees what this
    // thread did before its sleep
    sleeps_.store(before + 1, std::memory_order_seq_cst);
    os::looks looks(scheduler_->may_stand_still());
    while (!looks.sleep(sleeping_.signalled())) looks.look();
    sleeps_.store(before + 2, std::memory_order_seq_cst);
  }
  sleeping_.sleep(wakes_at, scheduler_->poller(), polled);
  os::note_rest(false);
  begin_light_fences();
  emit_event(*this, event::awake);
}

void worker::begin_light_fences() noexcept {
  if (!is_caller()) os::let_interrupts_through();
  if (scheduler_->settings().by_signal) fences.begin();
}

void worker::end_light_fences() noexcept {
  if (scheduler_->settings().by_signal) fences.end();
}

void worker::signal() noexcept { sleeping_.signal(scheduler_->poller()); }

bool worker::sleeps_for_good(std::uint64_t& sleep) noexcept {
  // First the signal: a signal that the thread has taken meanwhile came with another count. seq_cst: pairs with the
  // stores in sleep above, and in sleep_word.hpp: signal
  if (sleeping_.signalled().load(std::memory_order_seq_cst) != 0) return false;
  sleep = sleeps_.load(std::memory_order_seq_cst);
  return sleep % 2 != 0;
}

}}}  // namespace fj::v0_4::detail
