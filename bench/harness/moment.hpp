// The speed of several processors at a moment, beside the speed that they could have at that moment.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/harness/kernel.hpp"

namespace bench {

// Seconds of one run each, measured as close together as possible: machines change speed within a second.
struct moment {
  double alone;        // on one processor
  double parallel;     // on all of them
  double apart;        // by the slowest of as many programs on one processor each, all at the same time
  double alone_again;  // on one processor once more: the same time, if nothing has changed
};

// Takes moments of a way.
class moments {
 public:
  moments(const way& of, long size, int procs);

  // Each figure is the mean of this many runs.
  moment take(long runs);

  // The digests of all runs.
  std::vector<std::uint64_t> results();

 private:
  std::unique_ptr<team> together_;
  std::vector<std::unique_ptr<team>> single_;  // one for each processor
};

}  // namespace bench
