// What two kinds of strands do at the counting join of a scope: those that fork into the scope, and its children.
#pragma once

#include "runtime/strand/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// `children` is the part of a scope that its children know: `joined`, the counting join, and `home`, the home strand.
struct child_protocol {
  using fiber = strand_hooks::fiber;

  // The parent.

  /// By the home strand, when a thief has gone on with it after a fork.
  static void go_on_as_thief(auto& children) noexcept {
    strand_hooks::arrive_on_worker();
    children.joined.stolen();
  }

  /// A fork by `here`, which is any strand below the scope. fork() runs the child on a stack of its own, and says
  /// whether a thief went on with `here` meanwhile.
  static void fork_child(auto& children, const fiber& here, auto fork) noexcept {
    const bool elsewhere = &here != children.home;
    if (elsewhere) children.joined.fork_elsewhere();
    if (fork()) {
      if (!elsewhere) children.joined.stolen();
    } else if (elsewhere) {
      arrive_for_child(children);
    }
  }

  /// By a strand that forked elsewhere, in place of the child. The home strand may wait already.
  static void arrive_for_child(auto& children) noexcept {
    fiber& home = *children.home;
    if (children.joined.arrive()) strand_hooks::resume(home);
  }

  // The child.

  /// The end of a child whose parent was stolen.
  [[noreturn]] static void end_stolen_child(auto& children) noexcept {
    fiber& home = *children.home;  // the scope may be gone after the arrival
    strand_hooks::end_strand(children.joined.arrive() ? &home : nullptr);
  }
};

}}}  // namespace fj::v0_4::detail
