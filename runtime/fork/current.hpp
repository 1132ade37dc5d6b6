// The deque, the worker and the fiber of the strand that runs here, for the library: with forkjoin/abi/fork.hpp the
// only file that touches its thread-local variables.
#pragma once

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/fork/deque.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Stands for "outside of any runtime": eager and never opened, so every push to it and every pop goes to the slow
/// path, and the fast path need not ask. Outside threads all share it; what they store there is never read.
extern constinit deque no_deque;

// Called on native stacks, between strands, and by a strand around a blocking call. ThreadSanitizer would take these
// two for threads that race for a variable of their own.
[[gnu::noinline]] inline void set_current_deque(deque& d) noexcept {
  asm volatile("" ::: "memory");
  const os::unseen_by_detector of_this_thread;
  current_deque_slot = &d;
}
[[gnu::noinline]] inline void set_current_worker(worker* m) noexcept {
  asm volatile("" ::: "memory");
  const os::unseen_by_detector of_this_thread;
  current_worker_slot = m;
}

}}}  // namespace fj::v0_4::detail
