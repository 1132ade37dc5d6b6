// How a thief waits: between two thefts, and between two rounds that found nothing; and for how long at most.
#pragma once

#include <cstdint>

#include "../base/tuning.hpp"
#include "exposer.hpp"
#include "machine.hpp"

namespace fj::inline v0_1::detail {

/// Of one search.
template <scheduling_machine Machine>
class basic_patience {
 public:
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

  /// After a round that got nothing. Exposes records that were seen for long. False: nothing has been seen for long, and the
  /// search ends.
  bool waits(worker& m, bool saw_records) noexcept {
    const unsigned round = round_++;
    Machine::pause();
    if (!calm_ && round % tuning::rounds_per_look != 0) return true;
    const std::int64_t now = Machine::now_ns();
    calm_ = false;
    m.sched().all().for_each_deque([&](auto& d) {
      if (!d.progress().note(now)) return;
      calm_ = true;
      if (m.spinning) d.watch();
    });
    calm_ |= !saw_records && fibers_change(m.sched().all());
    if (calm_) {
      // Owners that run small loops, or fibers that hand over to one another: each look at their deques and queues costs them.
      // To park would cost more: the next fork or hand-over would wake this worker again.
      for (unsigned i = 0; i < tuning::calm_pauses; ++i) Machine::pause();
      nothing_since_ = 0;
    }
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
    if (round != 0) give_way();
    return true;
  }

 private:
  // Whether a P went on to another fiber since the last call.
  template <class Processors>
  bool fibers_change(Processors& all) noexcept {
    std::uint32_t runs = 0;
    for (unsigned i = 0; i < all.count(); ++i) runs += all[i].runs;
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
  std::int64_t nothing_since_ = 0;  // a time, or 0
  std::int64_t records_since_ = 0;  // a time, or 0
  std::uint32_t runs_ = 0;          // of all P
  bool calm_ = false;               // owners of small loops, or fibers, make progress
};

}  // namespace fj::inline v0_1::detail
