// What a thief does to the deques of other workers: it steals, and sounds alarms.
#pragma once

#include "machine.hpp"

namespace fj::inline v0_1::detail {

template <scheduling_machine Machine>
struct basic_thief {
  using deque = typename Machine::deque;
  using deque_thief = typename deque::as_thief;
  using root = typename Machine::root;
  using stolen_record = typename deque::stolen_record;
  using worker = typename Machine::worker;

  struct round_result {
    stolen_record stolen;
    bool saw_records = false;  ///< whether or not they could be had
  };

  /// One round over the deques of all P in random order: takes the first public record, and asks owners that have none to
  /// publish. Of root `only` alone, unless that is nullptr.
  static round_result look_around(worker& m, const root* only) noexcept {
    return look_around(m, only, [] { return true; });
  }

  /// The same, as long as go_on() says so after each look.
  template <class GoOn>
  static round_result look_around(worker& m, const root* only, GoOn go_on) noexcept {
    auto& all = m.sched().all();
    const unsigned first = m.dice.below(all.count());
    const unsigned step = all.step(m.dice.below(all.steps()));
    round_result found;
    all.for_each_deque(first, step, [&](deque_thief& victim) {
      look_at(m, only, victim, found);
      return !found.stolen.record && go_on();
    });
    return found;
  }

  /// One look, at the deque of the P with that number.
  static round_result look_at(worker& m, const root* only, unsigned proc) noexcept {
    round_result found;
    m.sched().all().for_each_deque(proc, 1, [&](deque_thief& victim) {
      look_at(m, only, victim, found);
      return false;
    });
    return found;
  }

 private:
  static void look_at(worker& m, const root* only, deque_thief& victim, round_result& found) noexcept {
    if (only && victim.whose() != only) return;
    if (victim.has_public()) {
      found.saw_records = true;
      found.stolen = victim.steal(only);
      if (!found.stolen.record) return;
      ++m.count().steals;
      // The next thief shall find a record, too.
      if (!victim.has_public() && !Machine::seems_empty(victim)) victim.alarm();
    } else {
      found.saw_records |= !Machine::seems_empty(victim);
      // Also where there is nothing yet: an owner that begins to fork may push a few records at once, and then none for a
      // while.
      if (!victim.alarmed()) victim.alarm();
    }
  }
};

}  // namespace fj::inline v0_1::detail
