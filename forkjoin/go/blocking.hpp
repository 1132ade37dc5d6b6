// Calls that may block their thread.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <type_traits>
#include <utility>

#include "forkjoin/abi/blocking.hpp"
#include "forkjoin/abi/maybe_yield.hpp"
#include "forkjoin/abi/os/compiler.hpp"

namespace fj { inline namespace v0_4 {

/// Calls f, which may block its thread: a call into the kernel, a lock that threads share, a library that sleeps.
/// Returns what f returns, or throws what f throws. Meanwhile other threads may take what this strand has forked. If f
/// lasts, another thread takes over the P: immediately if the strand's last two such calls lasted, after about 30 us if
/// such calls are frequent, and otherwise after 20 ms at most.
///
/// f runs on the calling thread, which is outside any runtime until f returns: fj::this_proc() is -1, a fork_join, a
/// loop or fj::go in f enters the default runtime as from any thread outside, the fork of a scope throws
/// std::logic_error, a wait in f blocks the thread, and fj::local has the values of the thread. After f the strand
/// continues when a P is idle, perhaps on another thread: read errno in f, and return it. No compiler inlines f. If all
/// threads that options::max_workers allows are in use, the P stays with f; stats::retakes_refused counts such calls,
/// and one message reports the first. Outside any runtime, and inside a blocking call, fj::blocking only calls f.
///
/// Put an OpenMP region whose threads fork in f: they enter the default runtime, too, and would otherwise wait for the
/// P that the strand keeps until the region ends.
///
/// Throws only what f throws. Cost of a short call: 10 to 15 ns, 150 instructions. The first call starts the monitor, a
/// thread that sleeps most of the time.
template <class F>
std::invoke_result_t<F> blocking(F&& f) {
  detail::maybe_yield();
  const detail::blocking_call call(false);
  return detail::os::call_apart(std::forward<F>(f));
}

/// As blocking, for a call that certainly blocks: another thread takes over the P immediately.
template <class F>
std::invoke_result_t<F> blocking_now(F&& f) {
  detail::maybe_yield();
  const detail::blocking_call call(true);
  return detail::os::call_apart(std::forward<F>(f));
}

}}  // namespace fj::v0_4
