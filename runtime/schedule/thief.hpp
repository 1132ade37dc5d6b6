// What a thief does to the deques of other workers: it steals, and sounds alarms.
#pragma once

#include "local_queue.hpp"
#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <scheduling_machine Machine>
struct basic_thief {
  using deque = typename Machine::deque;
  using deque_thief = typename deque::as_thief;
  using root = typename Machine::root;
  using stolen_record = typename deque::stolen_record;
  using worker = typename Machine::worker;

  struct round_result {
    typename Machine::fiber* resumed = nullptr;  ///< from another P's queue
    stolen_record stolen;
    bool saw_records = false;  ///< whether or not they could be had
  };

  /// One round over the deques of all P in random order: takes the first public record, and asks owners that have none to
  /// publish. Of root `only` alone, unless that is nullptr; as long as go_on() says so after each look.
  template <class GoOn>
  static round_result look_around(worker& m, const root* only, GoOn go_on) noexcept {
    round_result found;
    in_random_order(m, [&](auto&, deque_thief& victim) {
      look_at(m, only, victim, found);
      return !found.stolen.record && go_on();
    });
    return found;
  }

  /// One round that takes a fiber from another P's queue, too: from each P half of its ring, else a public record. `next_too`:
  /// this is the last of the passes, in which a thief takes also what runs next.
  static round_result look_for_any(worker& m, const root* only, bool next_too) noexcept {
    round_result found;
    in_random_order(m, [&](auto& p, deque_thief& victim) {
      found.resumed = basic_local_queue<Machine>::steal(m, p, only, next_too);
      if (!found.resumed) look_at(m, only, victim, found);
      return !found.resumed && !found.stolen.record;
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
  template <class Visit>
  static void in_random_order(worker& m, Visit visit) noexcept {
    auto& all = m.sched().all();
    const unsigned first = m.dice.below(all.count());
    all.for_each(first, all.step(m.dice.below(all.steps())), visit);
  }

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

}}}  // namespace fj::v0_2::detail
