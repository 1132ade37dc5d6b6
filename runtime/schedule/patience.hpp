// How a thief waits: between two thefts, and between two rounds that found nothing; and for how long at most.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../base/tuning.hpp"
#include "exposer.hpp"
#include "local_queue.hpp"
#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Of one search.
template <scheduling_machine Machine>
class basic_patience {
 public:
  using root = typename Machine::root;
  using worker = typename Machine::worker;

  /// The worker begins to look for work. If it stole a moment ago it waits first, until that moment is over or `needed()`.
  template <class Needed>
  static void hold_back(worker& m, Needed needed) noexcept {
    auto& s = m.sched();
    const std::int64_t now = Machine::now_ns();
    m.count().begin_looking(now);
    if (s.all().count() == 1 || s.settings().steal_every_fork) return;  // no owner is held up; or it was asked for
    if (now - m.stolen_at > tuning::short_work_ns) return;
    while (!needed() && Machine::now_ns() - now < tuning::short_work_ns) Machine::pause();
  }

  /// After a round that got nothing, of root `only` alone unless nullptr. Exposes records that were seen for long. False: nothing
  /// has been seen for long, and the search ends. `needed()` ends a longer wait.
  template <class Needed>
  bool waits(worker& m, const root* only, bool saw_records, Needed needed) noexcept {
    const unsigned round = round_++;
    Machine::pause();
    if (!calm_ && round % tuning::rounds_per_look != 0) return true;
    const std::int64_t now = Machine::now_ns();
    const std::int64_t round_took = calm_ ? now - looked_away_until_ : 0;
    const bool small_loops = note_progress(m, only, now);
    const bool fibers = !saw_records && fibers_change(m.sched().all(), only);
    calm_ = small_loops || fibers;
    if (calm_) nothing_since_ = 0;
    if (saw_records) {
      nothing_since_ = 0;
      if (records_since_ == 0) records_since_ = now;
      if (now - records_since_ > tuning::patience_ns) {
        basic_exposer<Machine>::expose(m);
        records_since_ = Machine::now_ns();  // that takes a while of its own
      }
    } else {
      records_since_ = 0;
      if (nothing_since_ == 0) nothing_since_ = now;
      if (now - nothing_since_ > tuning::search_ns) return false;
    }
    // Last: an exposure must follow at once on the look at the owners' progress.
    if (calm_)
      look_away(m, small_loops ? (std::min)(round_took * tuning::rounds_away, tuning::most_away_ns) : 0, needed);
    if (round != 0) give_way();
    return true;
  }

 private:
  // Whether an owner has come from part to part of its loops.
  static bool note_progress(worker& m, const root* only, std::int64_t now) noexcept {
    bool any = false;
    m.sched().all().for_each_deque([&](auto& d) {
      if (only && d.whose() != only) return;  // nor would a caller find the records there
      if (!d.progress().note(now)) return;
      any = true;
      if (m.spinning) d.watch();
    });
    return any;
  }

  // Owners run small loops, or fibers hand over to one another: each look at their deques and queues costs them. To park would cost
  // more: the next fork or hand-over would wake this worker again. Where processors are far apart a look costs owners most, and
  // takes longest. So the worker stays away from small loops for many times as long, and meanwhile reads only what seldom changes.
  template <class Needed>
  void look_away(worker& m, std::int64_t time, Needed needed) noexcept {
    auto& s = m.sched();
    const std::int64_t until = s.dispatcher().polled().awaited() ? 0 : Machine::now_ns() + time;
    do {
      for (unsigned i = 0; i < tuning::calm_pauses; ++i) Machine::pause();
      looked_away_until_ = Machine::now_ns();
    } while (looked_away_until_ < until && !needed() && !any_to_take(s));
  }

  template <class Scheduler>
  static bool any_to_take(Scheduler& s) noexcept {
    auto& dispatcher = s.dispatcher();
    if (dispatcher.timekeeper().fire_all() || dispatcher.any_ready()) return true;
    if (basic_local_queue<Machine>::any_in_rings(s.all())) return true;
    bool found = false;
    s.all().for_each_deque([&](auto& d) { found = found || d.has_public(); });
    return found;
  }

  // Whether a P went on to another fiber since the last call; for a caller, a P that works for its root. A hint.
  template <class Processors>
  bool fibers_change(Processors& all, const root* only) noexcept {
    std::uint32_t runs = 0;
    all.for_each(0, 1, [&](auto& p, auto& d) {
      if (!only || d.whose() == only) runs += p.runs;
      return true;
    });
    const bool changed = round_ > 1 && runs != runs_;
    runs_ = runs;
    return changed;
  }

  static void give_way() noexcept {
    const std::int64_t before = Machine::now_ns();
    Machine::yield_thread();
    if (Machine::now_ns() - before > tuning::crowded_ns) Machine::sleep_ns(tuning::nap_ns);
  }

  unsigned round_ = 0;
  std::int64_t nothing_since_ = 0;      // a time, or 0
  std::int64_t records_since_ = 0;      // a time, or 0
  std::int64_t looked_away_until_ = 0;  // a time, if calm_
  std::uint32_t runs_ = 0;              // of all P
  bool calm_ = false;                   // owners of small loops, or fibers, make progress
};

}}}  // namespace fj::v0_2::detail
