// How a worker finds something to run: a ready fiber, or else the oldest record of another strand.
#pragma once

#include <atomic>

#include "../base/tuning.hpp"
#include "machine.hpp"
#include "patience.hpp"
#include "ready_work.hpp"
#include "thief.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <scheduling_machine Machine>
struct basic_search {
  using fiber = typename Machine::fiber;
  using patience = basic_patience<Machine>;
  using ready_work = basic_ready_work<Machine>;
  using root = typename Machine::root;
  using thief = basic_thief<Machine>;
  using worker = typename Machine::worker;

  /// A fiber to run: a ready one, else one that begins with a stolen record. nullptr when there is nothing, or when enough
  /// others look already: then the worker parks.
  static fiber* find_work(worker& m) noexcept {
    begin_looking(m, nullptr);
    fiber* f = wait_for_turn(m);
    if (!f && m.spinning) f = search(m, nullptr);
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

  /// A fiber that works for that root. nullptr when the root is over, when nothing of it has been seen for a while, or when
  /// another thread lacks the P, or would not be woken for an idle one: then the caller hands its P over.
  static fiber* find_work_of(root& only, worker& m) noexcept {
    begin_looking(m, &only);
    m.sched().dispatcher().start_spinning(m);
    fiber* const f = search(m, &only);
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

 private:
  // acquire: pairs with the release in finish
  static bool is_over(const root* only) noexcept { return only && only->done.load(std::memory_order_acquire); }

  // The worker begins to look. If it stole little a moment ago it waits first.
  static void begin_looking(worker& m, const root* only) noexcept {
    m.sched().refuse_forked_copy();
    m.sched().dispatcher().timekeeper().fire_own(m);
    patience::hold_back(m, [&] { return is_over(only) || m.sched().dispatcher().any_ready(); });
  }

  // What becomes ready, or nullptr; and has the worker join those that look for records, when it is its turn. They may look
  // for a moment only, on top of a join: to park at once would cost more than to wait.
  static fiber* wait_for_turn(worker& m) noexcept {
    for (unsigned round = 0; round < tuning::top_rounds; ++round) {
      if (fiber* const f = ready_work::take(m, nullptr)) return f;
      if (m.sched().dispatcher().may_spin()) m.sched().dispatcher().start_spinning(m);
      if (m.spinning) break;
      Machine::pause();
    }
    return nullptr;
  }

  static fiber* search(worker& m, root* only) noexcept {
    // A stack first: a record that has been taken must be run.
    if (!Machine::prepare_stack(m)) {
      // No memory: the owners do their work themselves. Not to come back at once, as long as there is something to be seen.
      Machine::sleep_ns(tuning::refused_ns);
      return nullptr;
    }
    patience patient;
    unsigned for_others = 0;
    for (unsigned pass = 0;; ++pass) {
      m.sched().dispatcher().timekeeper().fire_all();
      if (pass % tuning::rounds_per_look == 0) m.sched().dispatcher().polled().poll();
      if (fiber* const f = ready_work::take(m, only)) return f;
      // A caller works for its own root only, and another thread may lack the P.
      if (is_over(only) || (only && m.sched().dispatcher().lacks_processor())) return nullptr;
      const auto found = thief::look_for_any(m, only, pass % tuning::steal_passes == tuning::steal_passes - 1);
      if (found.resumed) return found.resumed;
      if (found.stolen.record) {
        m.stolen_at = Machine::now_ns();
        m.count().begin_busy(m.stolen_at);
        return Machine::begin(m, found.stolen);
      }
      // Nobody is woken for others while the caller counts as spinning. So it hands its P over, if that is twice so.
      if (only && pass % tuning::rounds_per_look == 0 &&
          (for_others = ready_work::left_to_others(m, *only) ? for_others + 1 : 0) > 1)
        return nullptr;
      if (!patient.waits(m, only, found.saw_records, [&] { return is_over(only); })) return nullptr;
    }
  }
};

}}}  // namespace fj::v0_2::detail
