// The active deque of a P when a fiber goes on there, and when a fiber leaves it to wait or to give way.
#pragma once

#include <atomic>

#include "../carried_records.hpp"
#include "../left_records.hpp"
#include "../machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// On native stacks. Asks of its machine what basic_left_records and basic_carried_records ask, and besides: a worker's `then` and
/// `argument`, which the leaving fiber sets, and `carries`; `becomes_runnable(f)` notes the state of a fiber;
/// `replace_active_deque(m)` tries to get another deque for one that has no room for public records; `leaves_stacks(m, f)` takes the
/// free stacks of a leaving fiber from it, and `trims_stack(f)` gives the unused part of its own back.
template <scheduling_machine Machine>
struct basic_active_deque {
  using carried_records = basic_carried_records<Machine>;
  using deque = typename Machine::deque;
  using fiber = typename Machine::fiber;
  using left_records = basic_left_records<Machine>;
  using worker = typename Machine::worker;

  /// The deque that the fiber goes on with becomes the active one of the worker's P.
  static void install(worker& m, fiber& f) noexcept {
    deque* empty = carried_records::bring_back(m, f);
    if (!empty) empty = left_records::take_back(m, f);
    if (empty) {
      Machine::give_deque(m, *empty);
      return;
    }
    if (!active(m).has_capacity()) Machine::replace_active_deque(m);
    active(m).open(f.whose);
  }

  /// A fiber has left its stack, and the worker may have lost its P: calls m.then, by which the wait of the fiber may end, and
  /// returns the fiber that goes on on this worker, or nullptr. Before that, records in the active deque leave with the fiber.
  static fiber* leave(worker& m, fiber& left) noexcept {
    const auto then = [&m, &left]() -> fiber* {
      fiber* const next = m.then(m, left, m.argument);
      if (next == &left) Machine::becomes_runnable(left);  // what it waited for was there
      return next;
    };
    if (!m.proc) return then();      // after a blocking call: its records are with its marker
    left.whose = active(m).whose();  // a scope's child does not know yet
    Machine::leaves_stacks(m, left);
    if (m.carries.replace(false)) {
      carried_records::take_along(m, left);
      return then();
    }
    return left_records::leave(m, left, [&] {
      Machine::trims_stack(left);
      return then();
    });
  }

 private:
  static deque& active(worker& m) noexcept { return *m.proc->active.load(std::memory_order_relaxed); }
};

}}}  // namespace fj::v0_2::detail
