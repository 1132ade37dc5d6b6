// How a worker finds something to run: what is ready, else the oldest record of another strand.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../base/tuning.hpp"
#include "machine.hpp"

namespace fj::inline v0_1::detail {

template <scheduling_machine Machine>
struct basic_search {
  using deque = typename Machine::deque;
  using fiber = typename Machine::fiber;
  using root = typename Machine::root;
  using stolen_record = typename deque::stolen_record;
  using worker = typename Machine::worker;

  /// A fiber to run: a ready one, else one that begins with a stolen record. nullptr when there is nothing, or when enough
  /// others look already: then the worker parks.
  static fiber* find_work(worker& m) noexcept {
    hold_back(m, nullptr);
    fiber* f = wait_for_turn(m);
    if (!f && m.spinning) f = search(m, nullptr);
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

  /// A fiber that works for that root. nullptr when the root is over, when nothing of it has been seen for a while, or when
  /// another thread lacks the P: then the caller hands its P over.
  static fiber* find_work_of(root& only, worker& m) noexcept {
    hold_back(m, &only);
    m.sched().dispatcher().start_spinning(m);
    fiber* const f = search(m, &only);
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

  /// A record of root `whose`, to be run on top of a strand that waits for `until`; none once that is finished, after looking
  /// for a while, or if the strand had better leave its stack: something is ready, which cannot run on top, or that stack is
  /// `deep`, half full, and had better not grow by other people's work.
  template <class Join>
  static stolen_record find_for_top(worker& m, const root* whose, const Join& until, bool deep) noexcept {
    if (deep || m.sched().dispatcher().any_ready()) return {};
    // A stack first, in case the record turns out to be the rest of a scope's parent, which has a stack of its own.
    if (!Machine::prepare_stack(m)) return {};
    m.sched().dispatcher().start_spinning(m);
    stolen_record got;
    for (unsigned round = 0; round < tuning::top_rounds && !got.record && !until.finished(); ++round) {
      got = look_around(m, whose).stolen;
      if (!got.record) Machine::pause();
    }
    m.sched().dispatcher().stop_spinning(m);
    return got;
  }

  /// An entry of the ready queue, of that root alone unless nullptr, as a fiber to run.
  static fiber* take_ready(worker& m, root* only) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    while (dispatcher.any_ready()) {
      const auto got = dispatcher.take_ready(only, Machine::prepare_stack(m));
      if (got.emptied) Machine::give_deque(m, *got.emptied);
      if (got.stolen.record) {
        ++m.count().steals;
        return Machine::begin(m, got.stolen);
      }
      // A deque that another thief has emptied: the next entry may be more.
      if (got.resumed || !got.emptied) return got.resumed;
    }
    return nullptr;
  }

  /// Makes private records public by force, for a thief that sees them but gets none: the older half in up to
  /// tuning::exposed_at_a_time deques. Nothing if another thief is at it.
  static void expose(worker& m) noexcept {
    auto& s = m.sched();
    if (s.settings().eager || !s.exposing().try_lock()) return;
    // First the deques, then the guards: while a guard is up its owner waits for this thread. Deques are not freed while the
    // runtime lives, and one that is another P's by then will do, too.
    std::array<deque*, tuning::exposed_at_a_time> chosen;
    std::size_t count = 0;
    s.all().for_each_deque(m.dice.below(s.all().count()), 1, [&](deque& d) {
      if (d.has_private()) chosen[count++] = &d;
      return count < chosen.size();
    });
    const auto begun = std::span(chosen).first(count);
    const auto end = std::partition(begun.begin(), begun.end(), [](deque* d) { return d->expose_begin(); });
    if (end != begun.begin()) Machine::heavy_fence();
    std::for_each(begun.begin(), end, [&m](deque* d) {
      if (!d->expose_end(&Machine::handles_any)) return;
      ++m.count().exposures;
      m.count().most_public.raise_to(d->public_count());
    });
    s.exposing().unlock();
  }

 private:
  struct round_result {
    stolen_record stolen;
    bool saw_records = false;  ///< whether or not they could be had
  };

  // One round over the deques of all P in random order: takes the first public record, and asks owners that have none to
  // publish.
  static round_result look_around(worker& m, const root* only) noexcept {
    auto& all = m.sched().all();
    const unsigned first = m.dice.below(all.count());
    const unsigned step = all.step(m.dice.below(all.steps()));
    round_result found;
    all.for_each_deque(first, step, [&](deque& victim) {
      if (only && victim.whose() != only) return true;
      if (victim.has_public()) {
        found.saw_records = true;
        found.stolen = victim.steal(only);
        if (!found.stolen.record) return true;
        ++m.count().steals;
        // The next thief shall find a record, too.
        if (!victim.has_public() && !Machine::seems_empty(victim)) victim.alarm();
        return false;
      } else {
        found.saw_records |= !Machine::seems_empty(victim);
        // Also where there is nothing yet: an owner that begins to fork may push a few records at once, and then none for a
        // while.
        if (!victim.alarmed()) victim.alarm();
      }
      return true;
    });
    return found;
  }

  static bool is_over(const root* only) noexcept {
    // acquire: pairs with the release in finish
    return only && only->done.load(std::memory_order_acquire);
  }

  // A worker that stole little a moment ago waits first.
  static void hold_back(worker& m, const root* only) noexcept {
    auto& s = m.sched();
    s.refuse_forked_copy();
    const std::int64_t now = Machine::now_ns();
    m.count().begin_looking(now);
    if (s.all().count() == 1 || s.settings().steal_every_fork) return;  // no owner is held up; or it was asked for
    if (now - m.stolen_at > tuning::short_work_ns) return;
    while (!is_over(only) && !s.dispatcher().any_ready() && Machine::now_ns() - now < tuning::short_work_ns)
      Machine::pause();
  }

  // What becomes ready, or nullptr; and has the worker join those that look for records, when it is its turn. They may look
  // for a moment only, on top of a join: to park at once would cost more than to wait.
  static fiber* wait_for_turn(worker& m) noexcept {
    for (unsigned round = 0; round < tuning::top_rounds; ++round) {
      if (fiber* const f = take_ready(m, nullptr)) return f;
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
    std::int64_t nothing_since = 0, records_since = 0;
    for (unsigned round = 0;; ++round) {
      if (fiber* const f = take_ready(m, only)) return f;
      // A caller works for its own root only, and another thread may lack the P.
      if (is_over(only) || (only && m.sched().dispatcher().lacks_processor())) return nullptr;
      const round_result found = look_around(m, only);
      if (found.stolen.record) {
        m.stolen_at = Machine::now_ns();
        m.count().begin_busy(m.stolen_at);
        return Machine::begin(m, found.stolen);
      }
      Machine::pause();
      if (round % tuning::rounds_per_look != 0) continue;
      const std::int64_t now = Machine::now_ns();
      if (found.saw_records) {
        nothing_since = 0;
        if (records_since == 0) records_since = now;
        if (now - records_since > tuning::patience_ns) {
          expose(m);
          records_since = Machine::now_ns();  // that takes a while of its own
        }
      } else {
        records_since = 0;
        if (nothing_since == 0) nothing_since = now;
        if (now - nothing_since > tuning::search_ns) return nullptr;
      }
      if (round != 0) give_way();
    }
  }

  static void give_way() noexcept {
    const std::int64_t before = Machine::now_ns();
    Machine::yield_thread();
    if (Machine::now_ns() - before > tuning::crowded_ns) Machine::sleep_ns(tuning::nap_ns);
  }
};

}  // namespace fj::inline v0_1::detail
