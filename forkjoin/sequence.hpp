// What loops and algorithms ask of what they run over.
#pragma once

#include <cstddef>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <vector>

#include "forkjoin/options.hpp"

namespace fj::inline v0_1::detail {

/// A sequence that can be cut anywhere: an iterator with its end, a range.
template <class I, class S>
concept divisible_sequence = std::random_access_iterator<I> && std::sized_sentinel_for<S, I>;

template <class R>
concept divisible_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;

template <class I>
I advanced(const I& from, std::size_t by) {
  return from + static_cast<std::iter_difference_t<I>>(by);
}

template <class I, class S>
std::size_t size_between(const I& first, const S& last) {
  return static_cast<std::size_t>(last - first);
}

/// Where different elements may be written at the same time: those of vector<bool> share words.
template <class Out>
concept divisible_output =
    std::random_access_iterator<Out> && !std::is_same_v<std::iter_reference_t<Out>, std::vector<bool>::reference>;

/// Tells outputs from operations, to choose an overload. By name: to ask for the operators of an iterator would be to look
/// for them in all that the type of an operation mentions.
template <class T>
concept like_iterator =
    (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>) || requires { typename T::difference_type; };

template <class T>
concept not_options = !std::is_same_v<std::remove_cvref_t<T>, loop_options>;

template <class... T>
inline constexpr bool never = false;

}  // namespace fj::inline v0_1::detail
