// Forks two closures or more, by any policy.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/os/fork_path.hpp"
#include "forkjoin/detail/branch.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/fork_loop.hpp"
#include "forkjoin/detail/last_child_first.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// A compiler that inlines no function into itself makes two calls for each fork of a recursive function, and half of
// them reach a leaf. These calls take longer than all that the fork does; the serial program has one, as the other
// becomes a loop. If the fork is a function as well, that function is what recurs: the compiler inlines the user's
// function into it, unless that is large, and leaves cost no call. A compiler that inlines recursions does better with
// the fork in the user's function.

/// Whether closures and results are passed in registers. Through memory they would cost more than the calls.
template <class F, class G>
constexpr bool fit_registers() {
  if constexpr (is_small_temporary<F>() && is_small_temporary<G>()) {
    using A = value_of<result_of<F>>;
    using B = value_of<result_of<G>>;
    constexpr std::size_t two = 2 * sizeof(void*);
    return sizeof(F) <= two && sizeof(G) <= two && std::is_trivially_copyable_v<A> && std::is_trivially_copyable_v<B> &&
           sizeof(A) + sizeof(B) <= two;
  } else {
    return false;
  }
}

/// As a tuple, but returned in registers.
template <class F, class G>
struct results_in_registers {
  value_of<result_of<F>> first;
  value_of<result_of<G>> second;
};

/// A fork as a function.
template <class Policy, class F, class G>
[[gnu::noinline]] results_in_registers<F, G> fork_by_call(F f, G g) {
  auto [first, second] = detail::fork_two<F, G>(Policy(), f, g);
  return {std::move(first), std::move(second)};
}

/// Forks two closures or more. More than two continuations are a loop with one join. By other policies the second
/// branch is a closure that forks all but the first: so each child is in the deque if the last one runs first.
template <class Policy, class F, class G, class... More>
[[gnu::always_inline]] inline auto fork_all(lvalue<F> f, lvalue<G> g, lvalue<More>... more) {
  if constexpr (sizeof...(More) == 0 && !os::inlines_recursion && fit_registers<F, G>()) {
    auto [first, second] = detail::fork_by_call<Policy, F, G>(f, g);
    return results_of<F, G>(std::move(first), std::move(second));
  } else if constexpr (sizeof...(More) == 0) {
    return detail::fork_two<F, G>(Policy(), f, g);
  } else if constexpr (std::is_same_v<Policy, continuations>) {
    return fork_of_many<F, G, More...>(f, g, more...).run();
  } else {
    auto others = [&] { return detail::fork_all<Policy, G, More...>(g, more...); };
    using A = value_of<result_of<F>>;
    auto [first, rest] = detail::fork_two<F, decltype(others)>(Policy(), f, others);
    return std::tuple_cat(std::tuple<A>(std::forward<A>(first)), std::move(rest));
  }
}

}}}  // namespace fj::v0_4::detail
