// The join rules: what a strand does at a join while a thief has the other side. It runs records that it steals on top
// of its stack, or it leaves its stack, and its worker looks for any work.
//
// The three rules of the library are those of fj::leave_stack, fj::run_on_top and fj::leapfrog. A rule of your own is
// one file with a struct join_rule of the same shape, for the policies with fj::own_join. `./dev bench --policies
// --join-rule FILE` builds the library with it, and measures and simulates it with both orders beside the others;
// -Djoin_rule=FILE builds with it for good, and installs it with the library: FORKJOIN_JOIN_RULE is defined, and the
// file is <forkjoin_join_rule.hpp>. test/process/leap_first.hpp is a complete example.
#pragma once

#include <cstdint>

#include "runtime/base/steal_rule.hpp"
#include "runtime/base/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Leaves its stack at once.
struct leave_stack_rule {
  static constexpr bool runs_on_top = false;
};

/// Steals from any P.
struct run_on_top_rule {
  static constexpr bool runs_on_top = true;

  /// Whether the worker counts as one that looks for work meanwhile, so that no other is woken. Not unless it finds
  /// what any P shares.
  static constexpr bool looks_everywhere = true;

  /// After so many rounds in which it found nothing, one after the other, the strand leaves its stack.
  static constexpr unsigned rounds = tuning::top_rounds;

  /// One round of the worker m: calls visit(P, its deque) for each P to look at, as long as that returns true. `thief`:
  /// the P on which the thief of the other side began, or a number beyond all P as long as that is not known; in a
  /// scope the thief of the latest fork. `round`: 0 to rounds - 1.
  template <class Worker, class Visit>
  static void each_victim(Worker& m, unsigned /*thief*/, unsigned /*round*/, Visit visit) noexcept {
    steal_rule::each_victim(m, visit);
  }

  /// Whether a strand whose stack has `size` bytes, of which `used` are used up, may run another record on top.
  static constexpr bool may_grow(std::uint64_t used, std::uint64_t size) noexcept { return used <= size / 2; }
};

/// Steals from the thief's P alone.
struct leapfrog_rule {
  static constexpr bool runs_on_top = true;
  static constexpr bool looks_everywhere = false;
  static constexpr unsigned rounds = tuning::top_rounds;

  template <class Worker, class Visit>
  static void each_victim(Worker& m, unsigned thief, unsigned /*round*/, Visit visit) noexcept {
    auto& all = m.sched().all();
    if (thief >= all.count()) return;
    all.for_each(thief, 1, [&](auto& p, auto& victim) {
      visit(p, victim);
      return false;
    });
  }

  static constexpr bool may_grow(std::uint64_t used, std::uint64_t size) noexcept { return used <= size / 2; }
};

}}}  // namespace fj::v0_4::detail

#ifdef FORKJOIN_JOIN_RULE
#include <forkjoin_join_rule.hpp>
#else

namespace fj { inline namespace v0_4 { namespace detail {

struct join_rule : leave_stack_rule {};

}}}  // namespace fj::v0_4::detail

#endif
