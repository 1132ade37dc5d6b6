// The exception that a join of many children throws: first_error.hpp has the rule.
#pragma once

#include <exception>

#include "forkjoin/detail/first_error.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What a join has to throw: the exception of the earliest fork among those that children stored here, or else
/// fj::cancelled if forks were left out.
class first_exception : public first_error<std::exception_ptr> {
 public:
  /// Called after the join, if there is anything. Leaves nothing.
  [[gnu::cold]] std::exception_ptr take() noexcept {
    return first_error::take([] { return std::make_exception_ptr(cancelled()); });
  }
};

}}}  // namespace fj::v0_4::detail
