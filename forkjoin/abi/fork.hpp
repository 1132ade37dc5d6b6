// A fork: the strand that runs here, push and pop on its deque, and the slow paths in the library.
#pragma once

#include <cstdint>

#include "forkjoin/abi/continuation.hpp"
#include "forkjoin/abi/os/fork_path.hpp"
#include "forkjoin/abi/os/instrumentation.hpp"
#include "forkjoin/abi/os/thread_local.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct fiber;
struct worker;

// Read by the accessors below and by those of runtime/fork/current.hpp, and nowhere else. The library defines them,
// beside `outside`: so a program or plugin has as many copies of the one as of the other, whether the library is
// shared, or in each of them, or hidden there.
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

/// Pushes to the current deque, see deque_face::push.
template <class Record>
[[gnu::always_inline]] inline bool push_record(Record& r) noexcept {
#ifdef FORKJOIN_FORK_PATH
  return os::push_to_current(reinterpret_cast<std::uint64_t&>(static_cast<record&>(r)), deque_face::name_of(r));
#else
  return face_of(current_deque()).push(r, deque_face::name_of(r));
#endif
}

/// Pops from the current deque, see deque_face::pop.
[[gnu::always_inline]] inline bool pop_record(const record& r) noexcept {
#ifdef FORKJOIN_FORK_PATH
  return os::pop_from_current(reinterpret_cast<const std::uint64_t&>(r));
#else
  return face_of(current_deque()).pop(r);
#endif
}

// The slow paths: what the owner does when a thief asks for records, or has taken the fork's record.

/// To be called when push_record returned true. False: this thread is outside of any runtime, and nothing was pushed.
[[gnu::cold]] bool push_slow() noexcept;

/// To be called when pop_record returned false. False: stolen.
[[gnu::cold]] bool pop_slow(const record& r) noexcept;
[[gnu::cold]] bool pop_slow(const record_stand_in& r) noexcept;

/// Waits until the stolen record is finished. Meanwhile the worker does something else.
[[gnu::cold]] void join_slow(join& stolen) noexcept;

/// Ends the process: code that runs in a runtime called pthread_exit, or another thread cancelled its thread.
[[noreturn, gnu::cold]] void report_ended_thread() noexcept;

}}}  // namespace fj::v0_4::detail
