// A scope with its body as a closure.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <type_traits>
#include <utility>

#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// What a scope does for with_scope alone. A class, because g++ 12 takes no default template argument of a function
/// that is a friend.
struct scope_access {
  template <class Scope>
  static void join_after_throw(Scope& s) {
    s.join_after_throw();
  }
};

}  // namespace detail

/// Calls body(s) with a scope s of that policy (fj::scope by default), joins, and returns what body returned. Throws
/// the exception that the serial program would have thrown, also when body throws. If children fork into s, too, which
/// of several exceptions it throws depends on the schedule. Catch exceptions of children around with_scope, not around
/// a fork: a fork throws them only if its continuation was not stolen. Outside a runtime the call enters the default
/// one.
///
/// Once `stop` is asked to stop, s starts no child any more. If a child was left out, with_scope throws fj::cancelled,
/// unless a child or body has thrown something else.
template <detail::a_policy Policy = continuations, class Body>
std::invoke_result_t<Body&, basic_scope<Policy>&> with_scope(stop_token stop, Body&& body) {
  using result = std::invoke_result_t<Body&, basic_scope<Policy>&>;
  static_assert(
      !std::is_object_v<result> || std::is_move_constructible_v<std::remove_cv_t<result>>,
      "fj::with_scope: what the body returns must be movable, as the children are joined in between; return a "
      "std::unique_ptr to it");
  return fj::run([&]() -> result {
    basic_scope<Policy> s(std::move(stop));
    const auto guarded = [&]() -> result {
      try {
        return body(s);
      } catch (...) {
        detail::scope_access::join_after_throw(s);
        throw;
      }
    };
    if constexpr (std::is_void_v<result>) {
      guarded();
      s.join();
    } else {
      detail::value_of<result> value = guarded();
      s.join();
      return std::forward<detail::value_of<result>>(value);
    }
  });
}

template <detail::a_policy Policy = continuations, class Body>
  requires std::is_invocable_v<Body&, basic_scope<Policy>&>
std::invoke_result_t<Body&, basic_scope<Policy>&> with_scope(Body&& body) {
  return fj::with_scope<Policy>(stop_token(), body);
}

template <detail::no_policy Policy, class... Arguments, auto Why = detail::why_no_policy>
void with_scope(Arguments&&...) = delete;

}}  // namespace fj::v0_4
