// What the monitor does at each look at all P (Go's sysmon): it takes the P of blocking calls that last, and asks
// strands that compute for long to give way. While all P compute it serves timers and the poller.
//
// Source: sysmon and retake in Go's runtime/proc.go, with its delays.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/tuning.hpp"
#include "runtime/sched/dispatcher.hpp"
#include "runtime/sched/time_slices.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class monitor_rules {
 public:
  /// Throws std::bad_alloc.
  explicit monitor_rules(unsigned procs) : seen_(procs), slices_(procs) {}

  /// Before a look, in the place of workers that compute: wakes strands that wait for descriptors, if an event ended
  /// the sleep or no thread has looked into the poller for long, and fires timers. Where events come sooner one after
  /// another than it would look, it looks by the clock for some time.
  void serve_waits(auto& scheduler, std::int64_t now, bool event) noexcept {
    if (event && now - served_at_ < tuning::poll_delay_ns) often_at_ = now;
    served_at_ = now;
    if (scheduler.poller().awaited()) awaited_at_ = now;
    if (event || scheduler.poller().is_overdue(now)) scheduler.poller().poll();
    // A strand that keeps its P for long fires none of its timers.
    if (scheduler.dispatcher().all_busy()) scheduler.dispatcher().timekeeper().fire_all();
  }

  /// One look. Returns how many calls keep their P from now on although it should be taken, because no thread could use
  /// it. A strand in a blocking call does not hear that it was asked to give way: such a call loses its P though it has
  /// just begun. While a fiber waits that goes on soon though one strand was asked (dispatcher.hpp: ready_soon), all
  /// strands have short slices. While an urgent one does, those have whose Ps may serve it, and urgent ones.
  unsigned look(auto& scheduler, std::int64_t now) noexcept {
    auto& dispatcher = scheduler.dispatcher();
    soon_since_ = dispatcher.any_soon() ? (std::min)(soon_since_, now) : never;
    urgent_since_ = dispatcher.any_urgent() ? (std::min)(urgent_since_, now) : never;
    const bool all_hurry = soon_since_ <= now - tuning::between_cuts_ns;
    const bool some_hurry = urgent_since_ <= now - tuning::between_cuts_ns;
    any_asked_ = slices_.look(scheduler, now, [&](const processor& p) {
      const bool hurries = all_hurry || (some_hurry && (p.urgent.runs() || dispatcher.wants_for_urgent(p)));
      return hurries ? tuning::between_cuts_ns : tuning::slice_ns;
    });
    unsigned refused = 0;
    bool any = false, sees_new = false;
    for (unsigned i = 0; i < scheduler.all().count(); ++i) {
      processor& p = scheduler.all()[i];
      seen& last = seen_[i];
      const std::uint64_t call = p.blocking.now();
      const bool is_new = call != last.call;
      // However long it has lasted, that was less than since the last look.
      if (is_new) last = {.call = call, .since = now, .taken = last.taken};
      if (call == 0 || !is_due(scheduler, p, now - last.since)) continue;
      if (is_new && call != next_call(last.taken) && !slices_.has_asked(i)) {
        sees_new = true;
      } else {
        const retaken result = scheduler.dispatcher().retake(p, call, waker::sleeps, true);
        const bool lacks_thread = result == retaken::no_thread;
        any |= result == retaken::taken;
        if (result == retaken::taken) last.taken = call;
        refused += lacks_thread && !last.refused;
        last.refused = lacks_thread;
      }
    }
    looks_in_vain_ = any ? 0 : looks_in_vain_ + 1;
    has_taken_ |= any;
    looks_again_ = sees_new && !looks_again_;
    return refused;
  }

  /// Whether a strand had been asked to give way at the last look, and had not done so.
  bool any_asked() const noexcept { return any_asked_; }

  /// See time_slices.
  int find_long_run(std::int64_t now, std::int64_t ns) noexcept { return slices_.find_long_run(now, ns); }

  /// Whether it sleeps where events wake it.
  bool awaits_events(auto& scheduler) const noexcept {
    return served_at_ - often_at_ >= tuning::last_delay_ns && polls(scheduler) && scheduler.poller().is_open();
  }

  /// Nanoseconds until the next look.
  std::int64_t delay_ns(auto& scheduler) const noexcept {
    if (looks_in_vain_ <= tuning::quick_looks || looks_again_) return tuning::first_delay_ns;
    const unsigned doublings = (std::min)(looks_in_vain_ - tuning::quick_looks, 20u);
    const auto& dispatcher = scheduler.dispatcher();
    const std::int64_t most = polls(scheduler) && !awaits_events(scheduler)      ? tuning::poll_delay_ns
                              : dispatcher.any_soon() || dispatcher.any_urgent() ? tuning::between_cuts_ns
                                                                                 : tuning::last_delay_ns;
    return (std::min)(tuning::first_delay_ns << doublings, most);
  }

  /// When it serves the first timer, by os::now_ns: while a P is idle, the timekeeper does (timekeeper.hpp).
  static std::int64_t first_timer(auto& scheduler) noexcept {
    auto& dispatcher = scheduler.dispatcher();
    return dispatcher.any_idle() ? never : dispatcher.timekeeper().earliest();
  }

  /// After a rest: the first looks come soon again, if one has taken a P since the rest before; else each comes after
  /// twice as long from the first one on.
  void begin_anew() noexcept { looks_in_vain_ = std::exchange(has_taken_, false) ? 0 : tuning::quick_looks; }

 private:
  /// Of a P at the last look.
  struct seen {
    std::uint64_t call = 0;   // 0: none
    std::int64_t since = 0;   // the first look at that call
    std::uint64_t taken = 0;  // the last call that lost the P
    bool refused = false;     // there was no thread
  };

  // A call that follows directly on one that lost its P has lasted for long, too, as a rule. That spares a look at it.
  // Where short calls come between, this names none that is seen.
  static std::uint64_t next_call(std::uint64_t after) noexcept { return after + 2; }

  // Workers that look for work look into the poller, too, but may find work that is long. What has waited for a
  // descriptor a short time ago does so again as a rule, and the monitor, which may sleep then, does not hear of it.
  bool polls(auto& scheduler) const noexcept {
    const auto& dispatcher = scheduler.dispatcher();
    const bool lately = served_at_ - awaited_at_ < tuning::last_delay_ns;
    return (lately || scheduler.poller().awaited()) && (dispatcher.all_busy() || dispatcher.any_spinning());
  }

  // Whether work waits for the P, or would wait for it. If a worker looks for work or a P is idle, that one will have
  // it.
  static bool is_due(auto& scheduler, processor& p, std::int64_t lasted) noexcept {
    return lasted >= tuning::slice_ns || scheduler.dispatcher().all_busy() || !p.queue.empty() ||
           !p.active.load(std::memory_order_acquire)->looks_empty();  // acquire: as in processors.hpp: deque_of
  }

  std::vector<seen> seen_;
  time_slices slices_;
  bool any_asked_ = false;
  unsigned looks_in_vain_ = 0;
  bool has_taken_ = false;    // a P, since it rested
  bool looks_again_ = false;  // soon, at a call that it has seen begin, though it looks seldom
  // Each look since then saw a fiber that goes on soon, or an urgent one that waits.
  std::int64_t soon_since_ = never, urgent_since_ = never;
  // Looks: the last; the last at which a strand waited for a descriptor, and which an event brought about too soon.
  std::int64_t served_at_ = 0, awaited_at_ = -tuning::last_delay_ns, often_at_ = -tuning::last_delay_ns;
};

}}}  // namespace fj::v0_4::detail
