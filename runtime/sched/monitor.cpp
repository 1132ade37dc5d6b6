#include "runtime/sched/monitor.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/sched/yield_request.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

std::atomic<unsigned> yield_requests{0};

bool monitor::start() noexcept {
  const locked lock(mutex_);
  if (word_.word().load(std::memory_order_relaxed) != monitor_word::unstarted) return true;
  if (scheduler_.is_forked_copy()) return true;  // nothing is taken there: the other threads are missing
  if (os::now_ns() < ask_again_at_) return false;
  try {
    if (!rules_) rules_ = std::make_unique<monitor_rules>(scheduler_.all().count());
  } catch (const std::bad_alloc&) {}  // as if the system refused the thread
  if (rules_ && thread_.start(&thread_main, this)) {
    // Not before: another strand that needs the monitor would rely on a thread that the system may refuse.
    word_.word().store(monitor_word::watching, std::memory_order_relaxed);
    return true;
  }
  ask_again_at_ = os::now_ns() + tuning::between_refusals_ns;
  return false;
}

void monitor::wake() noexcept {
  // seq_cst: pairs with the loads in rest and watch_all, by which the monitor sees that it is to go on
  std::uint32_t expected = monitor_word::resting;
  if (word_.word().compare_exchange_strong(expected, monitor_word::watching, std::memory_order_seq_cst))
    os::futex_wake(word_.word());
}

void monitor::wake_by(std::int64_t time) noexcept { word_.wake_by(time, scheduler_.poller()); }

void monitor::end() noexcept {
  if (word_.end(scheduler_.poller()) == monitor_word::unstarted) return;
  thread_.join();
  note_requests(false);
}

void monitor::thread_main(void* self) noexcept { static_cast<monitor*>(self)->watch_all(); }

void monitor::watch_all() noexcept {
  os::wake_in_time();
  // seq_cst: pairs with the exchange in monitor_word.hpp: end
  while (word_.word().load(std::memory_order_seq_cst) != monitor_word::ending) {
    scheduler_.dispatcher().ask_for_refused_thread();
    const std::int64_t delay = rules_->delay_ns(scheduler_);
    bool event = false;
    if (delay == tuning::last_delay_ns && may_rest()) {
      rest();
    } else {
      event = word_.sleep(
          delay, [this] { return rules_->first_timer(scheduler_); },
          rules_->awaits_events(scheduler_) ? &scheduler_.poller() : nullptr);
    }
    os::let_interrupts_through();
    scheduler_.allowance().look(os::now_ns());
    rules_->serve_waits(scheduler_, os::now_ns(), event);
    scheduler_.count_refused_retakes(rules_->look(scheduler_, os::now_ns()));
    note_requests(rules_->any_asked());
    if (!tell_) continue;
    for (int proc; (proc = rules_->find_long_run(os::now_ns(), long_run_ns_)) >= 0;)
      tell_(scheduler_, static_cast<unsigned>(proc), long_run_ns_);
  }
}

void monitor::note_requests(bool any) noexcept {
  if (any == asks_) return;
  asks_ = any;
  any ? yield_requests.fetch_add(1, std::memory_order_relaxed) : yield_requests.fetch_sub(1, std::memory_order_relaxed);
}

bool monitor::may_rest() noexcept {
  auto& dispatcher = scheduler_.dispatcher();
  return dispatcher.all_idle() && !dispatcher.is_short();
}

// The story of a P that is not watched: the monitor sees all P idle; a worker takes one and sees that the monitor
// watches; the monitor rests. So each says what it does before it looks at the other. seq_cst: the word becomes
// resting, then idle is read (parking.hpp: unheld); pairs with the load in monitor.hpp: attend, before which the worker
// has taken its P.
void monitor::rest() noexcept {
  if (!word_.begin_rest()) return;
  while (word_.word().load(std::memory_order_seq_cst) == monitor_word::resting) {
    if (may_rest()) {
      os::futex_wait(word_.word(), monitor_word::resting);
    } else {
      wake();
    }
  }
  rules_->begin_anew();
}

}}}  // namespace fj::v0_4::detail
