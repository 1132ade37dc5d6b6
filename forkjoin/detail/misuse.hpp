// The messages for misuse that only a running program can detect.
#pragma once

#include <exception>
#include <stdexcept>

#ifndef FORKJOIN_SERIAL
#include "forkjoin/abi/fork.hpp"
#endif

namespace fj { inline namespace v0_4 { namespace detail {

/// The exception that the calling handler of `...` has caught. pthread_exit and pthread_cancel unwind a stack, too, but
/// what they throw is no exception of C++, and the handler of a strand, which may stand on a stack of the runtime,
/// cannot let it through.
[[gnu::cold]] inline std::exception_ptr caught_exception() noexcept {
  std::exception_ptr caught = std::current_exception();
#ifndef FORKJOIN_SERIAL
  if (!caught) report_ended_thread();
#endif
  return caught;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void scope_outside() {
  throw std::logic_error(
      "fj::scope: made outside of a runtime, where no worker could run the fork; call the function by fj::run, or use "
      "fj::with_scope, which enters the default runtime by itself");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void joined_elsewhere() {
  throw std::logic_error(
      "fj::scope::join: called by another strand than the one that made the scope; let that one join, or make a scope "
      "of its own where the fork is");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void forked_in_other_runtime() {
  throw std::logic_error(
      "fj::scope::fork: called outside of the runtime that the scope was made in, in another one or in none, which "
      "cannot wait for the child; make a scope of its own there, by fj::with_scope");
}

}}}  // namespace fj::v0_4::detail
