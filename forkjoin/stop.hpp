// Cooperative cancellation: a source asks, what holds its token finds out.
#pragma once

#include <exception>
#include <stop_token>

namespace fj::inline v0_1 {

/// The standard ones, so that tokens of std::jthread and of other libraries serve as well.
using std::stop_source;
using std::stop_token;

/// Thrown at the join by an operation that was given a token and left out part of its work because of it. One that had
/// started everything before it was asked to stop ends as if nobody had asked.
class cancelled : public std::exception {
 public:
  const char* what() const noexcept override {
    return "forkjoin: cancelled: the stop token was asked to stop before everything had started";
  }
};

}  // namespace fj::inline v0_1
