// A join rule as an example (runtime/base/join_rule.hpp says what it is for): the thief's P first, and after eight
// rounds any P. So a strand runs what it would have run without the theft, as long as there is some, and else does not
// leave its stack.
#pragma once

#include <cstdint>

#include "runtime/base/join_rule.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct join_rule {
  static constexpr bool runs_on_top = true;
  static constexpr bool looks_everywhere = true;
  static constexpr unsigned rounds = 72;

  template <class Worker, class Visit>
  static void each_victim(Worker& m, unsigned thief, unsigned round, Visit visit) noexcept {
    if (round < 8) {
      leapfrog_rule::each_victim(m, thief, round, visit);
    } else {
      run_on_top_rule::each_victim(m, thief, round, visit);
    }
  }

  static constexpr bool may_grow(std::uint64_t used, std::uint64_t size) noexcept { return used <= size / 4; }
};

}}}  // namespace fj::v0_4::detail
