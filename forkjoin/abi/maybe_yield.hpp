// Where strands give way in calls of <forkjoin/go.hpp>: when their time slice is over, and at random with
// options::chaos. The rule:
//
// 1. What may wait does so before it begins, also if it turns out that it need not wait: send, receive, lock, acquire,
//    wait, get, select, sleep, descriptors, go, blocking. A loop of such calls lets others run.
// 2. What only asks (try_lock, try_send, ready, ...) does so after it failed. A loop that polls lets others run; what
//    the strand got, it uses at once.
// 3. fj::local and the size of a channel do so before they return, because they never fail.
// 4. What never waits (close, notify_one, release, done, unlock, request_stop) never does, so destructors and stop
//    callbacks may call it: a std::stop_source remembers the thread that requests the stop, and a strand that gives way
//    may change its thread.
#pragma once

#include <atomic>

namespace fj { inline namespace v0_4 { namespace detail {

/// How many runtimes of the process are chaotic, have a schedule or have had an urgent fiber, and of how many a strand
/// has been asked to give way. One predictable branch on it stands before each operation on a channel, a lock or a
/// future: to find the strand's own runtime first would read a variable of the thread.
extern std::atomic<unsigned> yield_requests;

/// Lets others run first if the strand's runtime is chaotic and the dice of its P say so, or if the monitor asked for
/// it. Nothing outside of any runtime.
void maybe_yield_slow() noexcept;

inline void maybe_yield() noexcept {
  if (yield_requests.load(std::memory_order_relaxed) != 0) [[unlikely]]
    maybe_yield_slow();
}

}}}  // namespace fj::v0_4::detail
