// How a strand waits for the thief of its record: it leaves its stack, unless the thief has arrived, and the thief
// resumes it.
#pragma once

#include "forkjoin/abi/counting_join.hpp"
#include "forkjoin/abi/join.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/strand/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Returns when the stolen part is finished.
inline void wait_until_finished(join& stolen) noexcept {
  // With steal_every_fork the record itself may be in the deque still.
  while (!stolen.finished() && !strand_hooks::may_leave()) os::sleep_ns(tuning::refused_ns);
  if (stolen.finished()) return;
  strand_hooks::suspend(
      [](strand_hooks::worker&, strand_hooks::fiber& f, void* word) noexcept -> strand_hooks::fiber* {
        const os::unseen_by_detector pause;                       // the word lies in the frame of the strand
        return static_cast<join*>(word)->wait(f) ? nullptr : &f;  // false: the thief was faster
      },
      &stolen);
  static_cast<void>(stolen.finished());  // acquire: who uses this stack next comes after the thief's arrival
}

// How a home strand waits for all strands that a counting join counts: it leaves its stack, unless all have arrived,
// and the last to arrive resumes it.

/// Returns when all have arrived that the join counts. By its home strand.
inline void wait_for_all(counting_join& joined) noexcept {
  for (;;) {
    if (joined.all_arrived()) return;
    if (strand_hooks::may_leave()) break;
    os::sleep_ns(tuning::refused_ns);  // the others end without this worker
  }
  strand_hooks::suspend(
      [](strand_hooks::worker&, strand_hooks::fiber& f, void* counting) noexcept -> strand_hooks::fiber* {
        const os::unseen_by_detector pause;  // as in wait_until_finished
        return static_cast<counting_join*>(counting)->wait() ? nullptr : &f;
      },
      &joined);
  joined.go_on();
}

}}}  // namespace fj::v0_4::detail
