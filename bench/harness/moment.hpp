// What several processors give at a moment, beside what they could give just then.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/harness/kernel.hpp"

namespace bench {

// Seconds of one run, one after the other as close as can be: machines change speed within a second.
struct moment {
  double alone;        // on one processor
  double parallel;     // on all of them
  double apart;        // by the slowest of as many programs on one processor each, all at the same time
  double alone_again;  // on one processor once more: the same, if nothing has changed
};

// Takes moments of a way.
class moments {
 public:
  moments(const way& of, long size, int procs);

  // Each figure is the mean of so many runs.
  moment take(long runs);

  // The digests of all that ran.
  std::vector<std::uint64_t> results();

 private:
  std::unique_ptr<team> together_;
  std::vector<std::unique_ptr<team>> single_;  // one for each processor
};

}  // namespace bench
