// The fork with the last child first: thieves may steal the first closure, and the caller runs the second one.
#pragma once

#include <utility>

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/detail/branch.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Joins the first child, whose record was not private any longer when the caller came to the join.
template <class F, class Join>
[[gnu::cold, gnu::noinline]] value_of<result_of<F>> join_first_slow(branch<F, Join>& child) {
  if (detail::pop_slow(child)) return detail::call(child.closure);
  detail::wait_for<Join>(child);
  return child.take();
}

/// Runs or joins the first child of a caller that threw. If the child throws as well, its exception wins, as in the
/// serial program.
template <class F, class Join>
[[gnu::cold, gnu::noinline]] void join_first_after_throw(branch<F, Join>& child) {
  static_cast<void>(detail::pop_record(child) ? detail::call(child.closure) : detail::join_first_slow(child));
}

template <class F, class G, class Join>
[[gnu::always_inline]] inline results_of<F, G> fork_two(policy<last_child_first, Join>, lvalue<F> f, lvalue<G> g) {
  using B = value_of<result_of<G>>;
  branch<F, Join> child(f);
  B b = [&]() -> B {
    try {
      return __builtin_expect(detail::push_record(child), false)
                 ? detail::start_slow<policy<last_child_first, Join>, G>(detail::copy_if_large<G>(g), child)
                 : detail::call(g);
    } catch (...) {
      detail::join_first_after_throw(os::rematerialize(child));
      throw;
    }
  }();
  using A = value_of<result_of<F>>;
  A a = detail::pop_record(child) ? detail::call(child.closure) : detail::join_first_slow(os::rematerialize(child));
  return {std::forward<A>(a), std::forward<B>(b)};
}

}}}  // namespace fj::v0_4::detail
