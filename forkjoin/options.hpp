// How a loop or an algorithm is run.
#pragma once

#include <cstddef>

#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// For loops and algorithms: parallel_for(0, n, body, {.grain = 64, .stop = &token}).
struct loop_options {
  /// How many elements are done in one go without forking. 0: chosen by the algorithm.
  std::size_t grain = 0;

  /// What has not started when this is asked to stop is left out, and fj::cancelled thrown. Must outlive the call.
  const stop_token* stop = nullptr;
};

}  // namespace fj::inline v0_1
