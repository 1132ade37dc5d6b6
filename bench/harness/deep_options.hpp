// The runtime of programs whose forks are deep, as those of a chain are.
#pragma once

#include <forkjoin/run.hpp>

#include "bench/harness/large_stack.hpp"

namespace bench {

/// So many P, and stacks as large as those that other libraries get.
inline fj::options deep_options(unsigned procs) {
  fj::options wanted;
  wanted.procs = procs;
  wanted.stack_size = large_stack;
  return wanted;
}

}  // namespace bench
