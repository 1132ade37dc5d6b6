// Calls that may block their thread.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include <functional>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/entry.hpp"

namespace fj::inline v0_1 {

/// Calls f, which may block its thread: a call into the kernel, a lock that threads share, a library that sleeps. Returns what f
/// returns, or throws what f throws. Meanwhile other threads may take what this strand has forked; and if f lasts,
/// another thread takes over the P: after some 30 us where such calls are frequent, else after 20 ms at most.
///
/// f runs on the calling thread, which is outside of any runtime until f returns: fj::this_proc() is -1, a fork or fj::go in f
/// enters the default runtime as from a thread of its own, a wait keeps the thread, and fj::local has the values of the thread.
/// Afterwards the strand goes on when a P is free, perhaps on another thread: look at errno in f. If all threads of
/// options::max_workers block, f keeps the P; then stats::retakes_refused counts it, and a message says so once. Outside of any
/// runtime, and in a blocking call, f is called, no more.
///
/// Throws nothing of its own. Cost of a call that is short: 10 to 15 ns, 150 instructions. The first call starts the monitor, a
/// thread that sleeps most of the time.
template <class F>
std::invoke_result_t<F> blocking(F&& f) {
  detail::disturb();
  const detail::blocking_call call(false);
  return std::invoke(std::forward<F>(f));
}

/// As blocking, for a call that blocks for sure: the P goes to another thread at once.
template <class F>
std::invoke_result_t<F> blocking_now(F&& f) {
  detail::disturb();
  const detail::blocking_call call(true);
  return std::invoke(std::forward<F>(f));
}

}  // namespace fj::inline v0_1

#endif
