// Copies of small trivial bodies, which compilers keep in registers.
#pragma once

#include <functional>
#include <type_traits>

namespace fj { inline namespace v0_4 { namespace detail {

/// Bodies that loops copy. Not if another constructor is chosen for what is not const, as a template that takes
/// anything: behind std::as_const, loops of ten elements take 1.16 times as long with g++.
template <class Body, class... Arguments>
concept copied_in_loops =
    std::is_trivially_copyable_v<Body> && std::is_trivially_copy_constructible_v<Body> &&
    std::is_trivially_constructible_v<Body, Body&> && std::is_invocable_v<const Body&, Arguments...> &&
    sizeof(Body) <= 128 &&
    std::is_same_v<std::invoke_result_t<const Body&, Arguments...>, std::invoke_result_t<Body&, Arguments...>>;

/// What calls body with such arguments: a copy of a small trivial one, which is called as const, or a reference. No
/// other pointer leads to the copy, so what the body stores cannot change what it captured, and the compiler keeps that
/// in registers from iteration to iteration.
template <class... Arguments, class Body>
[[gnu::always_inline]] inline auto own_copy(Body& body) noexcept {
  if constexpr (copied_in_loops<std::remove_const_t<Body>, Arguments...>) {
    return std::remove_const_t<Body>(body);
  } else {
    return std::ref(body);
  }
}

/// iterations(own) with the same, for a loop in the function that calls this: g++ fills what another function returned
/// with loads of 16 bytes, which wait if the body was stored word by word a moment ago.
template <class Argument, class Body, class Iterations>
[[gnu::always_inline]] inline void with_own_copy(Body& body, Iterations iterations) {
  if constexpr (copied_in_loops<std::remove_const_t<Body>, Argument>) {
    const std::remove_const_t<Body> own(body);
    iterations(own);
  } else {
    iterations(body);
  }
}

}}}  // namespace fj::v0_4::detail
