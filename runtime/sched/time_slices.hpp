// How the monitor asks a strand that keeps its P for long to give way, and how the strand sees the request.
//
// A run of a P lasts from when a fiber begins or goes on there until it leaves. The monitor names a run by the P's
// count of runs. A request may come too late, when the strand has ended, waits, or is on another P. Then it names a run
// that is over, and no strand answers it. So neither the monitor nor the strand waits for the other, and the monitor
// takes no request back. One that comes too late may replace one for the present run, which the monitor repeats after a
// slice.
//
// Source: retake and preemptone in Go's runtime/proc.go: schedtick, schedwhen.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/base/tuning.hpp"
#include "runtime/sched/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What the monitor knows of the runs on all P. Asks of the P `runs`, `count.busy`, `yield_request`, `queue` and
/// `active`.
class time_slices {
 public:
  /// Throws std::bad_alloc.
  explicit time_slices(unsigned procs) : seen_(procs) {}

  /// One look: asks each strand to give way that has had its P for `slice_of(P)` while a fiber waits for one, or while
  /// P are to retire; again after each slice. Returns whether a strand has been asked and has not given way yet.
  bool look(auto& scheduler, std::int64_t now, auto slice_of) noexcept {
    bool any_asked = false;
    for (unsigned i = 0; i < scheduler.all().count(); ++i) {
      processor& p = scheduler.all()[i];
      seen& last = seen_[i];
      const std::uint32_t run = p.runs;
      const bool runs_none = !p.count.busy.runs();
      if (run != last.run || runs_none) {
        last = {.run = run, .began = now, .since = now};
      } else if (now - last.since >= slice_of(p) && waits_for(scheduler, p)) {
        ask(p, p.yield_request, run);
        last.since = now;
        last.asked = true;
      }
      any_asked |= last.asked;
    }
    return any_asked;
  }

  /// The number of a P whose strand has had it for so long and was asked to give way, each run once; -1: none.
  int find_long_run(std::int64_t now, std::int64_t ns) noexcept {
    for (seen& each : seen_) {
      if (!each.asked || each.told || now - each.began < ns) continue;
      each.told = true;
      return static_cast<int>(&each - &seen_[0]);
    }
    return -1;
  }

  /// Whether the strand that the P ran at the last look was asked by then.
  bool has_asked(unsigned index) const noexcept { return seen_[index].asked; }

  static void ask(processor& p, auto& request, std::uint32_t run) noexcept {
    request.ask(run);
    // acquire: as in processors.hpp: deque_of. If it is another strand's by now, that one attends in vain.
    p.active.load(std::memory_order_acquire)->for_thieves().request();
  }

 private:
  struct seen {
    std::uint32_t run = 0;
    std::int64_t began = 0;  // the first look at that run
    std::int64_t since = 0;  // the same, or the last request
    bool asked = false;
    bool told = false;
  };

  // A fiber of another P's queue waits for that one. A strand that gives way lets its worker look whether the P is to
  // retire.
  static bool waits_for(auto& scheduler, processor& p) noexcept {
    return scheduler.dispatcher().any_ready() || !p.queue.empty() || scheduler.dispatcher().has_surplus();
  }

  std::vector<seen> seen_;
};

}}}  // namespace fj::v0_4::detail
