// Why a call does not compile, in words.
#pragma once

#include <cstddef>
#include <type_traits>

#include "forkjoin/loop_options.hpp"

namespace fj::inline v0_1::detail {

/// Why a loop or an algorithm refuses a call; empty if it does not. What users call is constrained by this being empty, so a
/// requires-expression tells whether a call compiles. A refused call chooses a deleted overload that has the words as
/// a template argument, and compilers print those.
template <std::size_t N>
struct refusal {
  char why[N] = {};

  consteval refusal() = default;
  consteval refusal(const char (&text)[N]) {  // NOLINT: from a literal, as a template argument
    for (std::size_t i = 0; i != N; ++i) why[i] = text[i];
  }

  constexpr bool is_empty() const { return why[0] == 0; }

  template <std::size_t M>
  friend consteval auto operator+(const refusal& a, const char (&b)[M]) {
    refusal<N + M - 1> joined;
    for (std::size_t i = 0; i != N - 1; ++i) joined.why[i] = a.why[i];
    for (std::size_t i = 0; i != M; ++i) joined.why[N - 1 + i] = b[i];
    return joined;
  }
};

inline constexpr refusal not_refused("");

template <auto Why>
concept accepted = Why.is_empty();

/// Stands in a deleted overload before the words, and tells whether the arguments are meant for it. The compiler looks into
/// no others.
template <bool Meant>
using when = std::enable_if_t<Meant>;

/// The type of a parameter of a deleted overload. One that the caller leaves out has the type of the options there, as
/// braces may stand in its place.
template <class T, class Default>
using given = std::conditional_t<std::is_same_v<T, loop_options>, Default, T>;

}  // namespace fj::inline v0_1::detail
