// The join of a fork whose first closure threw. The exception of a stolen one lies in its record (branch.hpp).
#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/detail/wait_for.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

template <class G, class Join>
class branch;

/// Throws what is stored, and destroys the pointer to it.
[[noreturn, gnu::cold, gnu::noinline]] inline void rethrow(std::exception_ptr& stored) {
  const std::exception_ptr thrown = std::move(stored);
  std::destroy_at(&stored);
  std::rethrow_exception(thrown);
}

/// Joins the continuation of a child that threw: a result or exception of its own is dropped.
template <class G, class Join>
[[gnu::cold, gnu::noinline]] FORKJOIN_CALLEE_SAVES void join_continuation_after_throw(branch<G, Join>& rest) noexcept {
  if (detail::pop_record(rest) || detail::pop_slow(rest)) return;
  detail::wait_for<Join>(rest);
  rest.drop();
}

/// Joins the continuation when the child throws. A destructor, because a handler takes twice the code.
template <class G, class Join>
struct join_on_throw {
  branch<G, Join>& rest;
  bool armed = true;

  [[gnu::always_inline]] ~join_on_throw() {
    if (armed) detail::join_continuation_after_throw(os::rematerialize(rest));
  }
};

}}}  // namespace fj::v0_4::detail
