// The machine that the runtime's strands run on: workers, and the stacks of fibers.
#pragma once

#include "../fork/current.hpp"
#include "../sched/switch.hpp"
#include "../sched/system.hpp"
#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// A strand_machine.
struct strand_system : system {
  static bool may_leave() noexcept { return detail::may_leave(); }
  static void suspend(worker::afterwards then, void* argument) noexcept {
    ++current_worker()->count().suspensions;
    leave(then, argument);
  }
  static void resume(fiber& f) noexcept { detail::resume(f); }
  [[noreturn]] static void end_strand(fiber* next) noexcept { detail::end_strand(next); }
  static void arrive_on_worker() noexcept { detail::arrive_on_worker(); }
};

}}}  // namespace fj::v0_2::detail
