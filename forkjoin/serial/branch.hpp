// What fork_join is made of in the serial build: calls, one after the other.
#pragma once

#include <tuple>

#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/serial/run.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Calls all closures in the order of the program, whatever the policy.
template <class Policy, class... F>
std::tuple<value_of<result_of<F>>...> fork_all(lvalue<F>... f) {
  const inside_run here;        // as the other build outside of a runtime
  return {detail::call(f)...};  // in a braced list the first comes first
}

/// As the other build's: g is left to the caller.
template <class F, class G>
bool fork_quietly(F f, G) {
  f();
  return false;
}

/// There are no thieves.
constexpr bool begin_brief_part() noexcept { return true; }
constexpr bool was_slow() noexcept { return false; }
constexpr int slow_for() noexcept { return 0; }

}}}  // namespace fj::v0_2::detail
