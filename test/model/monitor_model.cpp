// The monitor's sleep beside workers that arm timers.

#include <algorithm>
#include <cstdint>

#include "test/model/scenario.hpp"

#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/sched/monitor_word.hpp"

namespace model {
namespace {

using fj::detail::locked;
using fj::detail::monitor_word;
namespace tuning = fj::detail::tuning;

/// A monitor that sleeps several times, on its futex and at the poller, and two workers each of which arms timers and
/// has the monitor wake for them.
class monitor_sleep : public scenario {
 public:
  monitor_sleep() { word_.word().store(monitor_word::watching, std::memory_order_relaxed); }

  // The kernel's futex, and a sleep that ends by the clock as seldom as it can.
  std::int64_t now_ns() override { return 0; }
  bool futex_wait_for_a_while(os::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    {
      const locked lock(kernel_);
      if (word.load(std::memory_order_relaxed) != expected) return true;
      sleeps_ = true;
    }
    if (any_of(4) == 0) return sleeps_ = false;
    wait_until([this] { return !sleeps_ || others_have_ended(); });
    if (!sleeps_) return true;
    check_timers();
    return sleeps_ = false;
  }
  void futex_wake() override {
    const locked lock(kernel_);
    sleeps_ = false;
  }

  void thread(unsigned index) override {
    if (index > 0) return arm(index - 1);
    do {
      sleeps_until_ = late;
      word_.sleep(
          late,
          [this] {
            std::int64_t first = late;
            for (auto& one : earliest_) first = (std::min)(first, one.load(std::memory_order_seq_cst));
            sleeps_until_ = (std::min)(late, (std::max)(first, tuning::timer_delay_ns));
            return first;
          },
          any_of(2) ? &poller_ : nullptr);
    } while (!others_have_ended());
  }

 private:
  /// Its eventfd: no event happens. A sleep that ends by the clock does so as seldom as it can.
  struct eventfd {
    bool await(std::int64_t) {
      if (any_of(4) == 0) return false;
      wait_until([this] { return ended || others_have_ended(); });
      if (!ended) monitor.check_timers();
      return ended = false;
    }
    void end_await() { ended = true; }
    monitor_sleep& monitor;
    bool ended = false;  // known outside of the model's memory
  };

  void check_timers() const {
    check(sleeps_until_ <= (std::min)(first_[0], first_[1]) + tuning::timer_delay_ns, "the monitor wakes for a timer");
  }

  static constexpr std::int64_t late = 100 * tuning::timer_delay_ns;

  static bool others_have_ended() { return system_state.ended[1] && system_state.ended[2]; }

  // Each earlier than those before; the other's are in between.
  void arm(unsigned i) {
    for (std::int64_t time : {late / 2 - i * late / 10, late / 4 - i * late / 20}) {
      earliest_[i].store(time, std::memory_order_seq_cst);
      first_[i] = time;
      word_.wake_by(time, poller_);
    }
  }

  monitor_word word_;
  eventfd poller_{*this};
  os::atomic<std::int64_t> earliest_[2] = {late, late};
  os::mutex kernel_;
  // Known outside of the model's memory, so true at once.
  bool sleeps_ = false;
  std::int64_t sleeps_until_ = 0, first_[2] = {late, late};
};

}  // namespace

const named_scenario scenarios[] = {
    {"monitor_sleep", 300'000, &make<monitor_sleep>},
    {},
};

}  // namespace model
