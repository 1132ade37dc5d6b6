// Cooperative cancellation: a stop_source requests it, and code that holds its stop_token polls. Also the exception of
// a wait that reaches its deadline.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <exception>
#include <stop_token>

namespace fj { inline namespace v0_4 {

/// The standard ones, so that tokens of std::jthread and of other libraries serve as well. A program's own
/// std::stop_callback must neither fork nor wait: the standard library remembers the thread that requests the stop, and
/// the strand that runs the callback might change its thread.
using std::stop_source;
using std::stop_token;

/// Thrown at the join by an operation that left out a part of its work because its token was asked to stop, and by a
/// wait that a request to stop ended. If an operation has started all its work before the request, it ends as if there
/// were none.
class cancelled : public std::exception {
 public:
  const char* what() const noexcept override {
    return "forkjoin: cancelled: the stop token was asked to stop before the operation was complete";
  }
};

/// Thrown by a wait whose deadline came before the event that it waited for.
class timed_out : public std::exception {
 public:
  const char* what() const noexcept override { return "forkjoin: timed out: the deadline of a wait has passed"; }
};

}}  // namespace fj::v0_4
