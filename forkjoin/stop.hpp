// Cooperative cancellation: a stop_source requests it, and work that holds its stop_token polls.
#pragma once

#include <exception>
#include <stop_token>

namespace fj::inline v0_1 {

/// The standard ones, so that tokens of std::jthread and of other libraries serve as well.
using std::stop_source;
using std::stop_token;

/// Thrown at the join by an operation that left out part of its work because its token was asked to stop. An operation that
/// had started everything before that ends as if there were no request.
class cancelled : public std::exception {
 public:
  const char* what() const noexcept override {
    return "forkjoin: cancelled: the stop token was asked to stop before everything had started";
  }
};

}  // namespace fj::inline v0_1
