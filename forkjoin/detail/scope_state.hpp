// What a scope's children know of it.
#pragma once

#include "forkjoin/detail/entry.hpp"
#include "forkjoin/detail/first_exception.hpp"

namespace fj::inline v0_1::detail {

/// What a scope's children know of it.
struct scope_state : children {
  explicit scope_state(fiber* strand) noexcept { home = strand; }

  /// Whether a join has something to do.
  [[gnu::always_inline]] bool nothing_to_join() const noexcept { return (joined.touched() | errors.precedence()) == 0; }

  first_exception errors;
};

}  // namespace fj::inline v0_1::detail
