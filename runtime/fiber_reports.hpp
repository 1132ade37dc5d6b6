// What a program learns of its fibers.
#pragma once

#include <cstddef>

namespace fj { inline namespace v0_2 {

/// How many fibers there are, in all runtimes of the process.
struct fiber_counts {
  std::size_t running = 0;  ///< on a thread, in blocking calls, too
  std::size_t ready = 0;    ///< they could go on, and wait for a P
  std::size_t waiting = 0;  ///< for a channel, a lock, a time, a descriptor, a join
  std::size_t all() const noexcept { return running + ready + waiting; }
};

}}  // namespace fj::v0_2
