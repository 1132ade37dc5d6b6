// How forks are scheduled: two choices that have nothing to do with each other.
#pragma once

#include <type_traits>

namespace fj::inline v0_1 {

// The order: which side of a fork the caller runs at once. Thieves may steal the other one.

/// The caller runs the first child at once, and thieves may steal what comes after it: the rest of the call, or of the
/// function that forks into a scope. With one P everything runs in the order of the serial program. Also called work-first
/// (Frigo, Leiserson and Randall, 1998).
struct first_child_first {};

/// The caller runs the last child at once, and thieves may steal those before it. With one P the children of each fork run
/// in reverse. That is how a library behaves that pushes every child as a task and takes back the newest one first. Also called help-first
/// (Guo, Barik, Raman and Sarkar, 2009).
struct last_child_first {};

// The join: what a strand does whose other side was stolen and is not done.

/// The strand leaves its stack, and its worker looks for any other work. The worker that finishes the stolen side goes on
/// with the strand. So no worker waits while there is work (a greedy join), and a stack is kept for each strand that waits.
struct leave_stack {};

/// The strand runs other stolen records of its job on top of its own stack until the stolen side is done. It may come back
/// late: what runs on top may take long. It leaves its stack where it finds nothing to run for a while, where something
/// is ready that has a stack of its own, or where half of its stack is used up.
struct run_on_top {};

/// As run_on_top, but the strand runs records of the P on which the stolen side began, and no others: work that it would have
/// done itself but for the theft, as long as the thief stays there. It also leaves its stack where that P has nothing for a
/// while. (Wagner and Calder: "Leapfrogging: a portable technique for implementing efficient futures", PPoPP 1993.)
struct leapfrog {};

/// A policy for fork_join and all that is made of it, for scopes and for loops: fj::policy<fj::last_child_first, fj::leapfrog>.
/// The choice is made when the program is compiled, and results and exceptions do not depend on it.
template <class Order, class Join>
struct policy {
  static_assert(std::is_same_v<Order, first_child_first> || std::is_same_v<Order, last_child_first>,
                "fj::policy: the order is fj::first_child_first or fj::last_child_first");
  static_assert(std::is_same_v<Join, leave_stack> || std::is_same_v<Join, run_on_top> || std::is_same_v<Join, leapfrog>,
                "fj::policy: the join is fj::leave_stack, fj::run_on_top or fj::leapfrog");
  using order = Order;
  using join = Join;
};

/// What the field calls continuation stealing, as in Cilk-5, Cilk Plus and Nowa: the child runs at once, its parent's
/// continuation is stolen, and a strand that waits leaves its stack to others. The default.
using continuations = policy<first_child_first, leave_stack>;

/// What the field calls task stealing (also: child stealing), as in oneTBB and in OpenMP's run-times: each child but the last is pushed, the newest is
/// taken back first, and a thread that waits runs other tasks on top of its stack.
using tasks = policy<last_child_first, run_on_top>;

namespace detail {

template <class Policy>
inline constexpr bool is_policy = false;
template <class Order, class Join>
inline constexpr bool is_policy<policy<Order, Join>> = true;

/// Whether the caller of a fork runs the first child itself.
template <class Policy>
inline constexpr bool runs_first_child = std::is_same_v<typename Policy::order, first_child_first>;

}  // namespace detail

}  // namespace fj::inline v0_1
