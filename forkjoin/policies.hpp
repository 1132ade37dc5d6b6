// How forks are scheduled: two independent choices, the order and the join.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <type_traits>

#include "forkjoin/detail/refusal.hpp"

namespace fj { inline namespace v0_4 {

// The order: which side of a fork the caller runs at once. Thieves may steal the other one.

/// The caller runs the first child at once, and thieves may steal what comes after it: the rest of the call, or of the
/// function that forks into a scope. With one P everything runs in the order of the serial program. Also called
/// work-first (Frigo, Leiserson and Randall, 1998).
struct first_child_first {};

/// The caller runs the last child at once, and thieves may steal those before it. With one P the children of each fork
/// run in reverse order, as in a library that pushes every child as a task and takes back the newest one first. Also
/// called help-first (Guo, Barik, Raman and Sarkar, 2009).
struct last_child_first {};

// The join: what a strand does at a join if a thief has the other side and is not done.

/// The strand leaves its stack, and its worker looks for any other work. The worker that finishes the stolen side
/// continues with the strand. No worker waits while there is work (a greedy join). Each strand that waits keeps a
/// stack.
struct leave_stack {};

/// The strand steals other branches of its job and runs them on top of its own stack until its stolen side is done. The
/// strand may continue late, because what runs on top may take long. If that work waits, for example for a channel, for
/// something that the strand does after the join, neither continues. The strand leaves its stack if it finds no branch
/// for a while, if a fiber is ready, or if half of its stack is used up.
struct run_on_top {};

/// As run_on_top, but the strand steals only from the P on which the stolen side began. As long as the thief stays on
/// that P, this is work that the strand would have done itself without the theft. The strand also leaves its stack if
/// that P has no branch for a while. (Wagner and Calder: "Leapfrogging: a portable technique for implementing efficient
/// futures", PPoPP 1993.)
struct leapfrog {};

/// As the join rule says that the library was built with, -Djoin_rule=FILE; without one as leave_stack. For experiments
/// (runtime/base/join_rule.hpp).
struct own_join {};

namespace detail {

template <class Join>
inline constexpr bool is_join = std::is_same_v<Join, leave_stack> || std::is_same_v<Join, run_on_top> ||
                                std::is_same_v<Join, leapfrog> || std::is_same_v<Join, own_join>;

}  // namespace detail

/// A policy for fork_join, fork_each and scopes: fj::policy<fj::last_child_first, fj::leapfrog>. Loops and algorithms
/// take none. The program chooses it at compile time. Results and exceptions do not depend on it, unless branches wait
/// for one another: see run_on_top.
template <class Order, class Join>
struct policy {
  static_assert(std::is_same_v<Order, first_child_first> || std::is_same_v<Order, last_child_first>,
                "fj::policy: the order is fj::first_child_first or fj::last_child_first");
  static_assert(detail::is_join<Join>, "fj::policy: the join is fj::leave_stack, fj::run_on_top or fj::leapfrog");
  using order = Order;
  using join = Join;
};

/// The default. Continuation stealing, as in Cilk-5, Cilk Plus and Nowa: the caller runs the child at once, thieves
/// steal the parent's continuation, and a strand that waits leaves its stack.
using continuations = policy<first_child_first, leave_stack>;

/// Task stealing (also: child stealing), as in oneTBB and in OpenMP's run-times: the caller pushes each child but the
/// last and takes the newest back first. A thread that waits runs other tasks on top of its stack.
using tasks = policy<last_child_first, run_on_top>;

namespace detail {

template <class Policy>
inline constexpr bool is_policy = false;
template <class Order, class Join>
inline constexpr bool is_policy<policy<Order, Join>> = true;

/// Of public functions and of scopes. Compilers show this line.
template <class Policy>
concept a_policy = is_policy<Policy>;  // fj::continuations, fj::tasks, or fj::policy<order, join>

/// Of deleted overloads, one for each function that takes a policy.
template <class Policy>
concept no_policy = !is_policy<Policy>;
inline constexpr refusal why_no_policy(
    "no fj::policy<order, join>: write one with an order (fj::first_child_first, fj::last_child_first) and a join "
    "(fj::leave_stack, fj::run_on_top, fj::leapfrog), or fj::continuations, or fj::tasks");

/// Whether the caller of a fork runs the first child itself.
template <class Policy>
inline constexpr bool runs_first_child = std::is_same_v<typename Policy::order, first_child_first>;

}  // namespace detail

}}  // namespace fj::v0_4
