// Lab 4: a steal rule for a machine with two nodes of memory: the first half of the Ps is on one, the second on the
// other. This is the library's rule, which knows nothing of nodes (runtime/base/steal_rule.hpp).
#pragma once

#include <cstdint>

#include "runtime/base/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct steal_rule {
  /// One round of the thief m: calls visit(P, its deque) for each P, the thief's own too, as long as that returns true.
  template <class Worker, class Visit>
  static void each_victim(Worker& m, Visit visit) noexcept {
    auto& all = m.sched().all();
    const unsigned first = m.dice.below(all.count());
    all.for_each(first, all.step(m.dice.below(all.steps())), visit);
  }

  /// How many of so many private records become public at a time: at least one, at most all.
  static constexpr std::uint64_t made_public(std::uint64_t private_records) noexcept {
    return private_records - private_records / 2;
  }

  static constexpr std::int64_t until_force_ns = tuning::patience_ns;
  static constexpr std::int64_t until_sleep_ns = tuning::search_ns;
  static constexpr std::int64_t between_thefts_ns = tuning::short_work_ns;
};

}}}  // namespace fj::v0_4::detail
