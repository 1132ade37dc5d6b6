// Why a call does not compile, in words.
#pragma once

#include <cstddef>
#include <type_traits>

#include "forkjoin/loop_options.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Why a loop or an algorithm refuses a call; empty if it does not. What users call is constrained by this being empty,
/// so a requires-expression tells whether a call compiles. A refused call chooses a deleted overload that has the words
/// as a template argument, and compilers print those. The first 32 characters say what is wrong: clang cuts the rest
/// where it names the deleted overload. They do not name the function, as compilers do that.
template <std::size_t N>
struct refusal {
  char why[N] = {};

  consteval refusal(const char (&text)[N]) {  // NOLINT: from a literal, as a template argument
    for (std::size_t i = 0; i != N; ++i) why[i] = text[i];
  }

  constexpr bool is_empty() const { return why[0] == 0; }
};

inline constexpr refusal not_refused("");

// Reasons of several functions.
inline constexpr refusal undivisible_range(
    "the range has no random access, or no size; what has not, as a std::list, can be copied or have its iterators put "
    "into a std::vector");
inline constexpr refusal undivisible_output(
    "the output has no random access, or is that of a std::vector<bool>, whose neighbours cannot be written at the "
    "same time");
inline constexpr refusal packed_elements(
    "std::vector<bool> shares words: neighbours cannot be written at the same time; use a std::vector<char>");
inline constexpr refusal packed_elements_of_loop(
    "std::vector<bool> shares words: neighbours cannot be written at the same time; use a std::vector<char>, or, to "
    "read only, std::as_const");
inline constexpr refusal unfit_predicate(
    "the predicate does not fit: it must be callable with a (projected) element and return bool");

template <auto Why>
concept accepted = Why.is_empty();

/// Stands in a deleted overload before the words, and tells whether the arguments are meant for it. The compiler looks
/// into no others.
template <bool Meant>
using when = std::enable_if_t<Meant>;

/// The type of a parameter of a deleted overload. One that the caller leaves out has the type of the options there, as
/// braces may stand in its place.
template <class T, class Default>
using given = std::conditional_t<std::is_same_v<T, loop_options>, Default, T>;

}}}  // namespace fj::v0_4::detail
