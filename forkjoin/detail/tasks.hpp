// The fork of a task: thieves may steal the first closure, and the caller runs the second one.
#pragma once

#include <utility>

#include "forkjoin/detail/branch.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/entry.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"

namespace fj::inline v0_1::detail {

/// Joins a task whose record was not private any longer when the caller came to the join.
template <class F>
[[gnu::cold, gnu::noinline]] value_of<result_of<F>> join_task_slow(branch<F>& child) {
  if (detail::pop_slow(child)) return detail::call(child.closure);
  join_tasks_slow(child.joined);
  return child.take();
}

/// Runs or joins the task of a caller that threw. If the task throws as well, its exception wins, as in the serial program.
template <class F>
[[gnu::cold, gnu::noinline]] void join_task_after_throw(branch<F>& child) {
  static_cast<void>(detail::pop_record(child) ? detail::call(child.closure) : detail::join_task_slow(child));
}

template <class F, class G>
[[gnu::always_inline]] inline results_of<F, G> fork_two(tasks, lvalue<F> f, lvalue<G> g) {
  using B = value_of<result_of<G>>;
  branch<F> child(f);
  B b = [&]() -> B {
    try {
      return __builtin_expect(detail::push_record(child), false) ? detail::start_slow<tasks, G>(g, child)
                                                                 : detail::call(g);
    } catch (...) {
      detail::join_task_after_throw(child);
      throw;
    }
  }();
  using A = value_of<result_of<F>>;
  A a = detail::pop_record(child) ? detail::call(child.closure) : detail::join_task_slow(child);
  return {std::forward<A>(a), std::forward<B>(b)};
}

}  // namespace fj::inline v0_1::detail
