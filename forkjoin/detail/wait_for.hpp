// How a policy's join waits for a stolen record.
#pragma once

#include <type_traits>

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/abi/on_top.hpp"
#include "forkjoin/policies.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

[[gnu::cold]] void join_children_slow(
    children& scope) noexcept;  // forkjoin/abi/scope.hpp, which fork_join does not need

/// All that a join decides: what its record says beside the closure, and which slow path waits for a stolen record, and
/// for the children of a scope whose latest stolen fork began on that P. What these do: runtime/base/join_rule.hpp. The
/// rule cannot choose the record, as making one is the fork's fast path: a continuation has two words, which are all
/// that fj::leave_stack stores.
template <class Join>
struct joins;

template <>
struct joins<leave_stack> {
  using record = continuation;
  static void wait(record& stolen) noexcept { detail::join_slow(stolen.joined); }
  static void wait(children& scope, unsigned) noexcept { detail::join_children_slow(scope); }
};

template <>
struct joins<run_on_top> {
  using record = timed_continuation;
  static void wait(record& stolen) noexcept { detail::join_on_top_slow(stolen); }
  static void wait(children& scope, unsigned) noexcept { detail::join_children_on_top_slow(scope); }
};

template <>
struct joins<leapfrog> {
  using record = traced_continuation;
  static void wait(record& stolen) noexcept { detail::leapfrog_slow(stolen); }
  static void wait(children& scope, unsigned proc) noexcept { detail::leapfrog_children_slow(scope, proc); }
};

template <>
struct joins<own_join> {
  using record = traced_continuation;
  static void wait(record& stolen) noexcept { detail::own_join_slow(stolen); }
  static void wait(children& scope, unsigned proc) noexcept { detail::own_join_children_slow(scope, proc); }
};

/// What waits at a join of that kind.
template <class Join>
using record_of = typename joins<Join>::record;

/// Whether its thief says where it begins, and when it ends.
template <class Join>
inline constexpr bool is_traced = std::is_base_of_v<traced_continuation, record_of<Join>>;
template <class Join>
inline constexpr bool is_timed = std::is_base_of_v<timed_continuation, record_of<Join>>;

/// Waits for a stolen record as the policy's join says.
template <class Join>
void wait_for(record_of<Join>& stolen) noexcept {
  joins<Join>::wait(stolen);
}

}}}  // namespace fj::v0_4::detail
