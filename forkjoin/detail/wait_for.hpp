// How a policy's join waits for a stolen record.
#pragma once

#include <type_traits>

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/abi/on_top.hpp"
#include "forkjoin/policies.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// What waits at a join of that kind.
template <class Join>
using record_of =
    std::conditional_t<std::is_same_v<Join, leave_stack>, continuation,
                       std::conditional_t<std::is_same_v<Join, leapfrog>, traced_continuation, timed_continuation>>;

/// Waits for a stolen record as the policy's join says.
template <class Join>
void wait_for(record_of<Join>& stolen) noexcept {
  if constexpr (std::is_same_v<Join, leave_stack>) {
    detail::join_slow(stolen.joined);
  } else if constexpr (std::is_same_v<Join, run_on_top>) {
    detail::join_on_top_slow(stolen);
  } else {
    detail::leapfrog_slow(stolen);
  }
}

}}}  // namespace fj::v0_2::detail
