// Takes a ready fiber for a worker: from the run queue of its P, or from the ready queue.
#pragma once

#include "../base/tuning.hpp"
#include "local_queue.hpp"
#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <scheduling_machine Machine>
struct basic_ready_work {
  using fiber = typename Machine::fiber;
  using local_queue = basic_local_queue<Machine>;
  using processor = typename Machine::processor;
  using root = typename Machine::root;
  using worker = typename Machine::worker;

  /// Of that root alone unless nullptr: what runs next on this P, then its ring, then the ready queue; in every 61st slice the
  /// ready queue comes before the ring. nullptr if there is nothing.
  static fiber* take(worker& m, root* only) noexcept {
    if (fiber* const f = local_queue::take_next(m)) return f;
    if (!only && ++m.proc->tick % tuning::ticks_per_look == 0)
      if (fiber* const f = take_from_all(m, nullptr, nullptr)) return f;
    if (fiber* const f = local_queue::take(m)) return f;
    processor* const mine = m.proc;
    return take_from_all(m, only, only ? nullptr : mine);
  }

  /// For a worker whose fiber has left: `f`, which that one resumed, or else what is ready. Before every 61st such `f` the worker takes
  /// something from the ready queue, and makes `f` ready instead. Otherwise a chain of fibers that resume each other would keep out what
  /// waits.
  static fiber* take_after(worker& m, fiber* f) noexcept {
    if (!f) return found(m, take(m, nullptr));
    if (++m.proc->tick % tuning::ticks_per_look != 0) return f;
    fiber* const first = take_from_all(m, nullptr, nullptr);
    if (!first) return f;
    m.sched().dispatcher().ready(*f);
    return first;
  }

  /// The same for a caller, which runs its own root alone: `f`, or else what is in its own queue. nullptr also if others wait for the P.
  static fiber* take_own_after(worker& m, fiber* f) noexcept {
    if (gives_way(m)) {
      if (f) m.sched().dispatcher().ready(*f);
      return nullptr;
    }
    if (f) return f;
    fiber* const next = local_queue::take_next(m);
    return found(m, next ? next : local_queue::take(m));
  }

  /// For a caller of that root: whether a P is idle though something is ready, or another root's deque has records.
  static bool left_to_others(worker& m, const root& only) noexcept {
    auto& s = m.sched();
    if (!s.dispatcher().any_idle()) return false;
    bool found = s.dispatcher().any_ready() || local_queue::any_in_rings(s.all());
    s.all().for_each_deque([&](auto& d) { found = found || (d.whose() != &only && !Machine::seems_empty(d)); });
    return found;
  }

 private:
  static fiber* found(worker& m, fiber* f) noexcept {
    if (f) m.sched().dispatcher().stop_spinning(m);
    return f;
  }

  // Strands of one root may wake one another for ever. So a caller asks whether another root lacks its P, when a strand has yielded, when a
  // slice is over, and at every 61st fiber.
  static bool gives_way(worker& m) noexcept {
    const bool asks = ++m.proc->tick % tuning::ticks_per_look == 0 || m.yielded;
    auto& dispatcher = m.sched().dispatcher();
    m.yielded = asks && dispatcher.ready_count() != m.brought->ready.count() && dispatcher.lacks_processor();
    return m.yielded;
  }

  // An entry of the ready queue. `more_to`: as in the dispatcher.
  static fiber* take_from_all(worker& m, root* only, processor* more_to) noexcept {
    auto& dispatcher = m.sched().dispatcher();
    while (dispatcher.any_ready()) {
      const bool has_stack = Machine::prepare_stack(m);
      const auto got = dispatcher.take_ready(only, has_stack, more_to);
      if (got.emptied) Machine::give_deque(m, *got.emptied);
      if (got.stolen.record) {
        ++m.count().steals;
        return Machine::begin(m, got.stolen);
      }
      if (got.brought) {
        if (has_stack) return Machine::begin(m, {nullptr, got.brought});
        Machine::refuse(m, *got.brought);
        continue;
      }
      // A deque that another thief has emptied: the next entry may be more.
      if (got.resumed || !got.emptied) return got.resumed;
    }
    return nullptr;
  }
};

}}}  // namespace fj::v0_2::detail
