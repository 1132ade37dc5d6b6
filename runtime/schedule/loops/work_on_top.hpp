// Finds the records that a strand which waits at a join may run on top of its own stack.
#pragma once

#include "../../base/tuning.hpp"
#include "../machine.hpp"
#include "../thief.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template <scheduling_machine Machine>
struct basic_work_on_top {
  using root = typename Machine::root;
  using stolen_record = typename Machine::deque::stolen_record;
  using thief = basic_thief<Machine>;
  using worker = typename Machine::worker;

  /// A record of root `whose`, to be run on top of a strand that waits for `until`; none once that is finished, after looking
  /// for a while, or if the strand had better leave its stack: something is ready, which cannot run on top, or that stack is
  /// `deep`, half full, and had better not grow by other people's work.
  template <class Join>
  static stolen_record find(worker& m, const root* whose, const Join& until, bool deep) noexcept {
    if (!may_begin(m, deep)) return {};
    m.sched().dispatcher().start_spinning(m);
    // The strand asks its own join after each look: the join is in the worker's own cache until the thief writes it, and a
    // round over many P takes longer than the stolen record.
    const auto waits = [&] { return !until.finished(); };
    const auto got = find_by(waits, [&] { return thief::look_around(m, whose, waits).stolen; });
    m.sched().dispatcher().stop_spinning(m);
    return got;
  }

  /// The same, of the P with the number that thiefs_proc() returns, and no other: leapfrogging. A number beyond all P is none.
  /// The worker does not count as spinning: it would not find what another P publishes.
  template <class Join, class Proc>
  static stolen_record find_at(worker& m, const root* whose, const Join& until, Proc thiefs_proc, bool deep) noexcept {
    if (!may_begin(m, deep)) return {};
    const auto look = [&]() -> stolen_record {
      const unsigned proc = thiefs_proc();
      if (proc >= m.sched().all().count()) return {};
      return thief::look_at(m, whose, proc).stolen;
    };
    return find_by([&] { return !until.finished(); }, look);
  }

 private:
  static bool may_begin(worker& m, bool deep) noexcept {
    if (deep || !m.proc->queue.empty() || m.sched().dispatcher().any_ready()) return false;
    // A stack first, in case the record turns out to be the rest of a scope's parent, which has a stack of its own.
    return Machine::prepare_stack(m);
  }

  template <class Waits, class Look>
  static stolen_record find_by(Waits waits, Look look) noexcept {
    stolen_record got;
    for (unsigned round = 0; round < tuning::top_rounds && !got.record && waits(); ++round) {
      got = look();
      if (!got.record) Machine::pause();
    }
    return got;
  }
};

}}}  // namespace fj::v0_2::detail
