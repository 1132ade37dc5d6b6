// The only file that reads the runtime's thread-local variables.
#pragma once

#include <cstdint>

#include "../os/fork_path.hpp"
#include "../os/race_detector.hpp"
#include "../os/thread_local.hpp"
#include "deque.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

struct fiber;
struct worker;

/// Stands for "outside of any runtime": eager and never opened, so every push to it and every pop goes to the slow path,
/// and the fast path need not ask. Outside threads all share it; what they store there is never read.
extern constinit deque no_deque;

// Read by the accessors below and nowhere else. The library defines them, beside `outside`: so a program or plugin has
// as many copies of the one as of the other, whether the library is shared, or in each of them, or hidden there.
extern constinit thread_local deque* current_deque_slot asm(FORKJOIN_CURRENT_DEQUE);
extern constinit thread_local worker* current_worker_slot asm(FORKJOIN_CURRENT_WORKER);
extern constinit thread_local fiber* current_fiber_slot asm(FORKJOIN_CURRENT_FIBER);

FORKJOIN_THREAD_LOCAL_READER(current_deque_pointer, deque*, FORKJOIN_CURRENT_DEQUE, current_deque_slot)
FORKJOIN_THREAD_LOCAL_READER(current_worker, worker*, FORKJOIN_CURRENT_WORKER, current_worker_slot)

/// The fiber on whose stack this code runs; nullptr on a native stack.
FORKJOIN_THREAD_LOCAL_READER(current_fiber, fiber*, FORKJOIN_CURRENT_FIBER, current_fiber_slot)
FORKJOIN_THREAD_LOCAL_WRITER(set_current_fiber, fiber*, FORKJOIN_CURRENT_FIBER, current_fiber_slot)

/// The deque that this strand pushes to. Another one, perhaps, after any fork, join or wait: never keep it.
[[gnu::always_inline]] inline deque& current_deque() noexcept { return *current_deque_pointer(); }

/// Pushes to the current deque, see deque_owner::push.
template <class Record>
[[gnu::always_inline]] inline bool push_record(Record& r) noexcept {
#ifdef FORKJOIN_FORK_PATH
  return os::push_to_current(reinterpret_cast<std::uint64_t&>(static_cast<record&>(r)), deque::name_of(r));
#else
  return current_deque().push(r, deque::name_of(r));
#endif
}

/// Pops from the current deque, see deque_owner::pop.
[[gnu::always_inline]] inline bool pop_record(const record& r) noexcept {
#ifdef FORKJOIN_FORK_PATH
  return os::pop_from_current(reinterpret_cast<const std::uint64_t&>(r));
#else
  return current_deque().pop(r);
#endif
}

// Called on native stacks, between strands, and by a strand around a blocking call. ThreadSanitizer would take these two for
// threads that race for a variable of their own.
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

}}}  // namespace fj::v0_2::detail
