// The one place that reads thread-local state.
#pragma once

#include <cstddef>

#include "runtime/deque.hpp"
#include "runtime/os/fork_path.hpp"
#include "runtime/os/thread_local.hpp"

namespace fj::detail {

struct worker;

/// A deque with its slots behind it.
template <std::size_t Slots>
struct deque_with_slots {
  deque records{0, false};
  deque::slot slots[Slots];
};

/// Stands for "outside of any runtime": its limit is always reached, so every push to it goes to the slow path and the
/// fast path need not ask. Outside threads all share it; what is stored there is never read. Each stores its record, then
/// resets bottom; a thread that is held up in between can leave bottom one further for the next, so there is a slot for
/// every thread that may ever be so unlucky at once. Only the first page is ever touched.
extern constinit deque_with_slots<std::size_t{1} << 16> outside;

// Read by the accessors below and nowhere else. Weak rather than inline: inline variables are unified across all of a
// process, also with RTLD_LOCAL, and two plugins with a runtime each would share one slot.
[[gnu::used, gnu::weak, gnu::visibility("default")]] constinit thread_local deque* current_deque_slot asm(
    "forkjoin_current_deque") = &outside.records;
[[gnu::used, gnu::weak, gnu::visibility("default")]] constinit thread_local worker* current_worker_slot asm(
    "forkjoin_current_worker") = nullptr;

FORKJOIN_THREAD_LOCAL_READER(current_deque_pointer, deque*, forkjoin_current_deque, current_deque_slot)
FORKJOIN_THREAD_LOCAL_READER(current_worker, worker*, forkjoin_current_worker, current_worker_slot)

/// The deque that this strand pushes to. Another one, perhaps, after any fork, join or wait: never keep it.
[[gnu::always_inline]] inline deque& current_deque() noexcept { return *current_deque_pointer(); }

/// Pushes to the current deque, see basic_deque::push.
[[gnu::always_inline]] inline bool push_record(continuation& record, deque::index& at) noexcept {
#ifdef FORKJOIN_FORK_PATH
  return os::push_to_current(&record, at);
#else
  return current_deque().push(&record, at);
#endif
}

/// Pops from the current deque, see basic_deque::pop.
[[gnu::always_inline]] inline bool pop_record(deque::index at) noexcept {
#ifdef FORKJOIN_FORK_PATH
  return os::pop_from_current(at);
#else
  return current_deque().pop(at);
#endif
}

// Called on native stacks only, between strands.
[[gnu::noinline]] inline void set_current_deque(deque& d) noexcept {
  asm volatile("" ::: "memory");
  current_deque_slot = &d;
}
[[gnu::noinline]] inline void set_current_worker(worker* m) noexcept {
  asm volatile("" ::: "memory");
  current_worker_slot = m;
}

}  // namespace fj::detail
