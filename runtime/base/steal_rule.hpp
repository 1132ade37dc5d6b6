// The steal rule: whom a thief visits first, how much an owner that is asked makes public, and for how long a thief
// waits.
//
// A rule of your own is one file with a struct of this name and shape. `./dev bench KERNEL --steal-rule FILE` builds
// the library with it and measures it beside this one, in rounds that alternate; -Dsteal_rule=FILE builds with it for
// good: FORKJOIN_STEAL_RULE is defined, and the file is <forkjoin_steal_rule.hpp>, in the build folder.
// test/process/nearest_one.hpp is a complete example.
#pragma once

#ifdef FORKJOIN_STEAL_RULE
#include <forkjoin_steal_rule.hpp>
#else

#include <cstdint>

#include "runtime/base/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Why this one: runtime/DECISIONS.md, "Public records" and "Workers and threads".
struct steal_rule {
  /// One round of the thief m: calls visit(P, its deque) for each P, the thief's own too, as long as that returns true.
  /// A thief that gets nothing makes round after round. Here in random order: from a random P on, in steps that have no
  /// divisor in common with their number. With FORKJOIN_TOPOLOGY the near ones first.
  template <class Worker, class Visit>
  static void each_victim(Worker& m, Visit visit) noexcept {
    auto& all = m.sched().all();
    const unsigned first = m.dice.below(all.count());
    all.for_each_near_first(first, all.step(m.dice.below(all.steps())), visit);
  }

  /// How many of so many private records, the oldest ones, become public at a time: at least one, at most all. A thief
  /// takes one at a time. Here the older half.
  static constexpr std::uint64_t made_public(std::uint64_t private_records) noexcept {
    return private_records - private_records / 2;
  }

  // Nanoseconds after which a thief acts that has got nothing.

  /// It sees private records: makes them public by force, which interrupts the owner.
  static constexpr std::int64_t until_force_ns = tuning::patience_ns;
  /// It sees no records: goes to sleep.
  static constexpr std::int64_t until_sleep_ns = tuning::search_ns;
  /// Its last theft was brief: so long it leaves the owners alone.
  static constexpr std::int64_t between_thefts_ns = tuning::short_work_ns;
};

}}}  // namespace fj::v0_4::detail

#endif
