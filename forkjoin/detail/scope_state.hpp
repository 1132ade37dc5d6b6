// What a scope's children know of it.
#pragma once

#include <memory>
#include <utility>

#include "forkjoin/abi/scope.hpp"
#include "forkjoin/detail/first_exception.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

static_assert(first_exception::may_be_number(child::forked_elsewhere));

/// What a scope's children know of it.
struct scope_state : children {
  [[gnu::always_inline]] explicit scope_state(fiber* strand) noexcept { home = strand; }
  [[gnu::always_inline]] scope_state(fiber* strand, stop_token&& token) noexcept : scope_state(strand) {
    if (!token.stop_possible()) return;  // nor will it ever be
    std::construct_at(&stop_, std::move(token));
    note(has_stop);
  }
  ~scope_state() {}  // drop_stop has been called

  /// At the end of a scope whose events are not 0.
  void drop_stop() noexcept {
    if (events() & has_stop) std::destroy_at(&stop_);
  }

  bool stop_requested() const noexcept { return (events() & has_stop) && stop_.stop_requested(); }
  stop_token stop() const noexcept { return events() & has_stop ? stop_ : stop_token(); }

  /// Whether a join has something to do.
  bool nothing_to_join() const noexcept { return (joined.touched() | errors.precedence()) == 0; }

  first_exception errors;

 private:
  union {
    stop_token stop_;  ///< if has_stop
  };
};

}}}  // namespace fj::v0_4::detail
