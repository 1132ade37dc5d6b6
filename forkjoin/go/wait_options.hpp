// What every wait can be given as its last argument.
#pragma once

#ifdef FORKJOIN_SERIAL
#include "forkjoin/serial/go.hpp"
#else

#include "forkjoin/stop.hpp"

namespace fj::inline v0_1 {

/// For example c.receive({.stop = &token}).
struct wait_options {
  /// Asked to stop, the wait ends and throws fj::cancelled. A wait that need not wait does not look at it.
  const stop_token* stop = nullptr;
};

}  // namespace fj::inline v0_1

#endif
