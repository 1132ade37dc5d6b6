// How closures are passed on the way to where they run.
#pragma once

#include <type_traits>

#include "forkjoin/detail/result.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// F and G are the types of closures as a forwarding reference deduces them: X for a temporary, X& for an lvalue.

template <class T>
using lvalue = std::remove_reference_t<T>&;

template <class G>
constexpr bool is_small_trivial_temporary() {
  if constexpr (std::is_reference_v<G> || std::is_const_v<G>) {
    return false;
  } else {
    return std::is_trivially_copyable_v<G> && std::is_trivially_constructible_v<G, G&> && sizeof(G) <= 64;
  }
}

template <class G>
constexpr bool is_small_temporary() {
  if constexpr (!is_small_trivial_temporary<G>()) {
    return false;
  } else {
    return !std::is_reference_v<result_of<G>>;  // which may be to the closure itself
  }
}

/// How a closure is passed. A small trivial temporary is passed by value, which saves a pointer to it and lets the
/// compiler keep it in registers. All others are passed by reference to where the caller has them.
template <class G>
using closure_argument = std::conditional_t<is_small_temporary<G>(), G, lvalue<G>>;

/// How it is passed to a cold path. If it does not fit into two registers g++ would push the value, and a function that
/// pushes has a frame pointer, which every call sets up. So a reference is passed then, to a copy that only the cold
/// path makes: what no reference leads to can stay in registers.
template <class G>
constexpr bool is_large_temporary() {
  if constexpr (!is_small_temporary<G>()) {
    return false;  // perhaps a function, which has no size
  } else {
    return sizeof(G) > 2 * sizeof(void*);
  }
}

template <class G>
using cold_argument = std::conditional_t<is_large_temporary<G>(), G&&, closure_argument<G>>;

template <class G>
[[gnu::always_inline]] inline std::conditional_t<is_large_temporary<G>(), G, closure_argument<G>> copy_if_large(
    lvalue<G> g) noexcept {
  return g;
}

/// The same for the body of a loop, whose results do not outlive the iteration.
template <class Body>
using body_argument = std::conditional_t<is_small_trivial_temporary<Body>(), Body, lvalue<Body>>;

}}}  // namespace fj::v0_4::detail
