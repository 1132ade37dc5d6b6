// What a strand that waits at the join of a task may run on top of its own stack.
#pragma once

#include "../base/tuning.hpp"
#include "machine.hpp"
#include "thief.hpp"

namespace fj::inline v0_1::detail {

template <scheduling_machine Machine>
struct basic_work_on_top {
  using root = typename Machine::root;
  using stolen_record = typename Machine::deque::stolen_record;
  using worker = typename Machine::worker;

  /// A record of root `whose`, to be run on top of a strand that waits for `until`; none once that is finished, after looking
  /// for a while, or if the strand had better leave its stack: something is ready, which cannot run on top, or that stack is
  /// `deep`, half full, and had better not grow by other people's work.
  template <class Join>
  static stolen_record find(worker& m, const root* whose, const Join& until, bool deep) noexcept {
    if (deep || m.sched().dispatcher().any_ready()) return {};
    // A stack first, in case the record turns out to be the rest of a scope's parent, which has a stack of its own.
    if (!Machine::prepare_stack(m)) return {};
    m.sched().dispatcher().start_spinning(m);
    stolen_record got;
    for (unsigned round = 0; round < tuning::top_rounds && !got.record && !until.finished(); ++round) {
      got = basic_thief<Machine>::look_around(m, whose).stolen;
      if (!got.record) Machine::pause();
    }
    m.sched().dispatcher().stop_spinning(m);
    return got;
  }
};

}  // namespace fj::inline v0_1::detail
