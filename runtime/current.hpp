// The one place that reads thread-local state.
#pragma once

#include "runtime/deque.hpp"
#include "runtime/os/thread_local.hpp"

namespace fj::detail {

struct worker;

/// Stands for "outside of any runtime": every push to it goes to the slow path, so the fast path need not ask. Shared by
/// all outside threads; what is stored in it is never read.
extern constinit deque outside;

// Read by the accessors below and nowhere else.
[[gnu::used, gnu::visibility("default")]] inline constinit thread_local deque* current_deque_slot asm(
    "forkjoin_current_deque") = &outside;
[[gnu::used, gnu::visibility("default")]] inline constinit thread_local worker* current_worker_slot asm(
    "forkjoin_current_worker") = nullptr;

FORKJOIN_THREAD_LOCAL_READER(current_deque_pointer, deque*, forkjoin_current_deque, current_deque_slot)
FORKJOIN_THREAD_LOCAL_READER(current_worker, worker*, forkjoin_current_worker, current_worker_slot)

/// The deque that this strand pushes to. Another one, perhaps, after any fork, join or wait: never keep it.
[[gnu::always_inline]] inline deque& current_deque() noexcept { return *current_deque_pointer(); }

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
