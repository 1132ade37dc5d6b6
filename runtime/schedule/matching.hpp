// Which sleeping worker gets an idle P.
#pragma once

#include "idle.hpp"
#include "machine.hpp"
#include "ready_queue.hpp"
#include "thread_budget.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// All of it with the dispatcher's mutex held.
template <scheduling_machine Machine>
class basic_matching {
 public:
  using processor = typename Machine::processor;
  using processors = typename Machine::processors;
  using ready_queue = basic_ready_queue<Machine>;
  using worker = typename Machine::worker;

  /// A P that was idle, and a worker that slept, or that a thread must be started.
  struct match {
    processor* held = nullptr;
    worker* woken = nullptr;
    bool spins = false;
    bool must_start = false;
  };

  basic_matching(processors& all, basic_idle<Machine>& idle, ready_queue& ready,
                 basic_thread_budget<Machine>& budget) noexcept
      : all_(all), idle_(idle), ready_(ready), budget_(budget) {}

  /// After begin_waking, which has counted one worker that spins.
  match take() noexcept {
    match found{.held = idle_.take_processor()};
    if (!found.held) return found;
    if ((found.woken = idle_.take_thread())) {
      found.woken->spinning = true;  // begin_waking has counted it
    } else if (budget_.begin_start()) {
      found.must_start = true;
      return found;
    } else {
      found.woken = take_caller();
    }
    if (found.woken) {
      found.spins = found.woken->spinning;
      give(*found.woken, *found.held);
    } else {
      idle_.put_processor(*found.held);
    }
    return found;
  }

  /// To a worker that sleeps. A caller, whose root may be over, does not go on before it has been placed.
  static void give(worker& m, processor& p) noexcept {
    m.proc = &p;
    ++p.count.wakeups;
    Machine::begin_placing(m);
  }

  /// Whether a thread sleeps, or may be started, that works for all roots.
  bool has_other_thread() const noexcept { return idle_.has_thread() || budget_.any_left(); }

  /// Whether there is a thread for what is ready.
  bool thread_for_ready() noexcept { return has_other_thread() || caller_with_ready(); }

 private:
  // A sleeping caller of whose root a fiber or a marker is ready. Only if no other thread can be had.
  worker* caller_with_ready() noexcept {
    if (idle_.callers().empty()) return nullptr;
    ready_.move_all_here(all_);
    return idle_.callers().find([](const worker& m) { return ready_queue::any_of(*m.brought); });
  }

  // To take what is ready of its root, or else to look for records of it.
  worker* take_caller() noexcept {
    worker* m = caller_with_ready();
    if (!m && (m = idle_.caller_with_records(all_))) m->spinning = true;
    if (m) idle_.remove_caller(*m);
    return m;
  }

  processors& all_;
  basic_idle<Machine>& idle_;
  ready_queue& ready_;
  basic_thread_budget<Machine>& budget_;
};

}}}  // namespace fj::v0_2::detail
