// The monitor: a thread beside the workers that watches P from time to time (Go's sysmon).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "forkjoin/abi/mutex.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/hooks.hpp"
#include "runtime/sched/monitor_rules.hpp"
#include "runtime/sched/monitor_word.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler;

/// Its thread starts when it is first needed, and rests without a wake-up while all P are idle.
class monitor {
 public:
  explicit monitor(scheduler& watched) noexcept : scheduler_(watched) {}
  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

  /// By what needs it watched: starts the thread unless it runs. False if the system refuses it.
  bool watch() noexcept { return is_started() || start(); }

  /// Before it starts: from then on it calls `tell` with the number of a P whose strand has kept it for so long (`ns`)
  /// while others were ready, once for each run of a strand.
  void report_long_runs(std::int64_t ns, void (*tell)(scheduler&, unsigned proc, std::int64_t ns) noexcept) noexcept {
    long_run_ns_ = ns;
    tell_ = tell;
  }

  /// Whether it has ever been needed. Then it has a thread, and strands give way.
  bool is_started() const noexcept { return word_.word().load(std::memory_order_relaxed) != monitor_word::unstarted; }

  /// By a worker: it is to serve a timer that is due at that time.
  void wake_by(std::int64_t time) noexcept;

  /// It serves timers that follow one another quickly sooner from now on.
  void begin_urgent() noexcept { word_.use_timer_delay(tuning::urgent_timer_delay_ns); }

  /// By a worker that has taken a P and runs a strand on it: ends the monitor's rest.
  void attend() noexcept {
    // seq_cst: the P is taken from the idle ones, then this is read; pairs with rest, which stores this, then reads how
    // many P are idle
    if (word_.word().load(std::memory_order_seq_cst) == monitor_word::resting) [[unlikely]]
      wake();
  }

  /// Whether it has a thread that does more than rest.
  // seq_cst: pairs with the compare-and-swap in rest. The look for a standstill then sees what the monitor did before
  // (deadlock_report.cpp).
  bool is_awake() const noexcept {
    const std::uint32_t does = word_.word().load(std::memory_order_seq_cst);
    return does != monitor_word::unstarted && does != monitor_word::resting;
  }

  /// Ends the thread. No strand runs any more.
  void end() noexcept;

 private:
  static void thread_main(void* self) noexcept;
  bool start() noexcept;
  void wake() noexcept;
  void watch_all() noexcept;
  void note_requests(bool any) noexcept;
  bool may_rest() noexcept;
  void rest() noexcept;

  scheduler& scheduler_;
  monitor_word word_;
  os::mutex mutex_;                                            // of start
  std::int64_t ask_again_at_ FORKJOIN_GUARDED_BY(mutex_) = 0;  // once the system has refused the thread
  std::unique_ptr<monitor_rules> rules_;
  std::int64_t long_run_ns_ = 0;
  void (*tell_)(scheduler&, unsigned, std::int64_t) noexcept = nullptr;
  bool asks_ = false;  // a strand that was asked to give way has not done so
  os::thread thread_;
};

}}}  // namespace fj::v0_4::detail
