// The fork: run closures in parallel, join, return their results.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <type_traits>
#include <utility>

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/branch.hpp"
#else
#include "forkjoin/detail/fork_all.hpp"
#endif
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/detail/unless_stopped.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

/// Runs all closures, possibly in parallel, waits for all, and returns a std::tuple of their results: references as
/// they are, std::monostate for void. If all results are void, it returns void. Any function may call fork_join, at any
/// depth. Outside a runtime the call enters the default one.
///
/// The policy (policies.hpp) says which closure the calling thread runs first, and what the strand does at a join that
/// must wait. With fj::continuations (the default) the thread runs the first closure immediately, and thieves (idle
/// workers) may steal the rest of the call. With one P everything then runs in the order of the serial program. With
/// fj::tasks, and with every other policy of fj::last_child_first, thieves may steal the first closures, and the
/// calling thread runs the last one immediately.
///
/// Exceptions: the call first waits for all closures that have started. Then it rethrows the exception that the serial
/// program would have thrown, and drops all other exceptions. Closures after the one that threw do not start any more
/// (with fj::last_child_first they may have started before).
///
/// The code after the call may run on another thread. Closures may be lvalues or temporaries; fork_join copies or moves
/// small trivial ones only. Cost if nothing is stolen: about 10 to 19 instructions a fork; no allocation, no fence. If
/// the rest of a call with fj::continuations is stolen many times, still only one stack waits for the join. For a
/// number of closures that is known at run time only, see fork_reduce and fork_each.
template <detail::a_policy Policy = continuations, class F, class G, class... More>
  requires(!std::is_same_v<std::remove_cvref_t<F>, stop_token>)
[[gnu::always_inline]] inline auto fork_join(F&& f, G&& g, More&&... more) {
  static_assert(detail::are_callable<F, G, More...>, "fj::fork_join: each argument must be callable without arguments");
  constexpr bool movable = detail::all_return_movable<F, G, More...>;
  static_assert(
      movable,
      "fj::fork_join: what a closure returns must be movable, to get into the tuple; return a std::unique_ptr to it");
  if constexpr (!movable) {
    return;
  } else if constexpr (detail::all_return_void<F, G, More...>) {
    static_cast<void>(detail::fork_all<Policy, F, G, More...>(f, g, more...));
  } else {
    return detail::fork_all<Policy, F, G, More...>(f, g, more...);
  }
}

// Compilers show these lines.
template <detail::a_policy Policy = continuations, class F>
void fork_join(F&& f) = delete;  // one closure has nothing to fork from: call it; fj::run(f) enters a runtime

/// As above. Once `stop` is asked to stop, closures do not start any more. The call then throws fj::cancelled, unless
/// an earlier closure has thrown something else.
template <detail::a_policy Policy = continuations, class F, class G, class... More>
auto fork_join(const stop_token& stop, F&& f, G&& g, More&&... more) {
  static_assert(detail::are_callable<F, G, More...>, "fj::fork_join: each argument must be callable without arguments");
  return fj::fork_join<Policy>(detail::unless_stopped<F>{stop, f}, detail::unless_stopped<G>{stop, g},
                               detail::unless_stopped<More>{stop, more}...);
}

template <detail::a_policy Policy = continuations, class F>
void fork_join(const stop_token& stop, F&& f) = delete;  // one closure has nothing to fork from: call it

/// Another name for fork_join: oneTBB's.
template <detail::a_policy Policy = continuations, class F, class G, class... More>
[[gnu::always_inline]] inline auto parallel_invoke(F&& f, G&& g, More&&... more) {
  return fj::fork_join<Policy>(std::forward<F>(f), std::forward<G>(g), std::forward<More>(more)...);
}

template <detail::a_policy Policy = continuations, class F>
void parallel_invoke(F&& f) = delete;  // one closure has nothing to fork from: call it; fj::run(f) enters a runtime

template <detail::no_policy Policy, class... Arguments, auto Why = detail::why_no_policy>
void fork_join(Arguments&&...) = delete;

template <detail::no_policy Policy, class... Arguments, auto Why = detail::why_no_policy>
void parallel_invoke(Arguments&&...) = delete;

}}  // namespace fj::v0_4
