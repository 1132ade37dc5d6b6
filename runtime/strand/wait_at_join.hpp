// How a strand waits for the thief of its record: it leaves its stack, unless the thief has arrived, and the thief resumes it.
#pragma once

#include "../base/tuning.hpp"
#include "../os/race_detector.hpp"
#include "machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Returns when the stolen part is finished.
template <strand_machine Machine, class Join>
void wait_until_finished(Join& stolen) noexcept {
  // With steal_every_fork the record itself may be in the deque still.
  while (!stolen.finished() && !Machine::may_leave()) Machine::sleep_ns(tuning::refused_ns);
  if (stolen.finished()) return;
  Machine::suspend(
      [](typename Machine::worker&, typename Machine::fiber& f, void* word) noexcept -> typename Machine::fiber* {
        const os::unseen_by_detector pause;                       // the word lies in the frame of the strand
        return static_cast<Join*>(word)->wait(f) ? nullptr : &f;  // false: the thief was faster
      },
      &stolen);
  static_cast<void>(stolen.finished());  // acquire: who uses this stack next comes after the thief's arrival
}

// How a home strand waits for all strands that a counting join counts: it leaves its stack, unless all have arrived, and the
// last to arrive resumes it.

/// Returns when all have arrived that the join counts. By its home strand.
template <strand_machine Machine, class CountingJoin>
void wait_for_all(CountingJoin& joined) noexcept {
  for (;;) {
    if (joined.all_arrived()) return;
    if (Machine::may_leave()) break;
    Machine::sleep_ns(tuning::refused_ns);  // the others end without this worker
  }
  Machine::suspend(
      [](typename Machine::worker&, typename Machine::fiber& f, void* counting) noexcept -> typename Machine::fiber* {
        const os::unseen_by_detector pause;  // as in wait_until_finished
        return static_cast<CountingJoin*>(counting)->wait() ? nullptr : &f;
      },
      &joined);
  joined.go_on();
}

}}}  // namespace fj::v0_2::detail
