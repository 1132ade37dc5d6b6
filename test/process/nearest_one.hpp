// A steal rule as an example (runtime/base/steal_rule.hpp says what it is for): the next P first, one record at a time,
// and half the patience.
#pragma once

#include <cstdint>

#include "runtime/base/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct steal_rule {
  template <class Worker, class Visit>
  static void each_victim(Worker& m, Visit visit) noexcept {
    auto& all = m.sched().all();
    all.for_each((m.proc->index + 1) % all.count(), 1, visit);
  }

  static constexpr std::uint64_t made_public(std::uint64_t) noexcept { return 1; }

  static constexpr std::int64_t until_force_ns = tuning::patience_ns / 2;
  static constexpr std::int64_t until_sleep_ns = tuning::search_ns / 2;
  static constexpr std::int64_t between_thefts_ns = 0;
};

}}}  // namespace fj::v0_4::detail
