// A fork that asks for no thief.
#pragma once

#include "forkjoin/detail/branch.hpp"
#include "forkjoin/detail/entry.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"

namespace fj::inline v0_1::detail {

/// A fork by continuations that asks for no thief as long as a worker looks for work: that worker finds the record if f takes
/// long. So f costs no more for that worker. For parts of loops.
template <class F, class G>
[[gnu::always_inline]] inline value_of<result_of<G>> fork_quietly(F f, G g) {
  current_deque().progress().make();
  branch<G&, leave_stack> rest(g);
  join_on_throw<G&, leave_stack> on_throw{rest};
  if (__builtin_expect(detail::push_record(rest), false) && !is_watched(rest)) {
    static_cast<void>(detail::start_slow<continuations, F&>(f, rest));
  } else {
    f();
  }
  on_throw.armed = false;
  return detail::pop_record(rest) ? detail::call(rest.closure) : detail::join_continuation_slow(rest);
}

/// Whether a thief has found since the last call that the calling strand stayed in one part of a loop for long.
inline bool was_slow() noexcept { return current_deque().progress().was_slow(); }

}  // namespace fj::inline v0_1::detail
