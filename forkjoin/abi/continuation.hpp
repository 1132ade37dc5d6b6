// A continuation, what remains to be done after a fork, as a record of the deque.
#pragma once

#include "forkjoin/abi/join.hpp"
#include "forkjoin/abi/record.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A record in the frame of the function that forked; what is needed to run it follows in a derived class. It is two
/// words long: making it costs a store for the one, pushing it a store for the other.
struct continuation : record {
  [[gnu::always_inline]] explicit continuation(continuation_body body) noexcept : joined(body) {}

  join joined;
};

}}}  // namespace fj::v0_4::detail
