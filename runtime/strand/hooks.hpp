// The steps that the protocols of this folder are made of: how a strand leaves its stack, and how another has it go on.
//
// The model checks have steps of their own (test/model/strands.hpp), and compile the protocols themselves with them.
#pragma once

#include <concepts>

namespace fj { inline namespace v0_4 { namespace detail {

/// What these must offer; the library's, below, say what each does.
template <class Hooks>
concept hooks_for_strands =
    requires(typename Hooks::worker::afterwards then, typename Hooks::fiber& f, void* argument) {
      { Hooks::may_leave() } -> std::same_as<bool>;
      Hooks::suspend(then, argument);
      Hooks::resume(f);
      Hooks::end_strand(&f);
      Hooks::arrive_on_worker();
      { then(*static_cast<typename Hooks::worker*>(nullptr), f, argument) } -> std::same_as<typename Hooks::fiber*>;
    };

}}}  // namespace fj::v0_4::detail

#ifndef FORKJOIN_MACHINE

#include "runtime/fork/current.hpp"
#include "runtime/sched/switch.hpp"
#include "runtime/sched/worker.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct strand_hooks {
  using fiber = detail::fiber;
  using worker = detail::worker;

  /// Whether the running strand may leave its stack now; if not, it waits with os::sleep_ns.
  static bool may_leave() noexcept { return detail::may_leave(); }
  /// then(worker, fiber, argument) is called when the context of the running strand has been saved, and returns the
  /// strand that goes on in its place, or nullptr. Returns when another strand has resumed this one, perhaps on another
  /// worker.
  static void suspend(worker::afterwards then, void* argument) noexcept {
    ++current_worker()->count().suspensions;
    emit_wait(*current_worker(), {}, argument);
    current_fiber()->arrived_at = 0;
    leave(then, argument);
    const std::int64_t arrived = current_fiber()->arrived_at;
    current_worker()->count().late.note(arrived == 0 ? 0 : os::now_ns() - arrived);
  }
  /// Makes a strand that waits runnable.
  static void resume(fiber& f) noexcept { detail::resume(f); }
  /// The end of the running strand: its worker goes on with `next`, unless that is nullptr.
  [[noreturn]] static void end_strand(fiber* next) noexcept { detail::end_strand(next); }
  /// Whenever a strand has come to another worker.
  static void arrive_on_worker() noexcept { detail::arrive_on_worker(); }
};

static_assert(hooks_for_strands<strand_hooks>);

}}}  // namespace fj::v0_4::detail

#endif
