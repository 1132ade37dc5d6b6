// What loops and algorithms require of sequences.
#pragma once

#include <cstddef>
#include <iterator>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

#include "forkjoin/loop_options.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A sequence that can be cut anywhere: an iterator with its end, a range.
template <class It, class S>
concept divisible_sequence = std::random_access_iterator<It> && std::sized_sentinel_for<S, It>;

template <class R>
concept divisible_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;

template <class It>
It advanced(const It& from, std::size_t by) {
  return from + static_cast<std::iter_difference_t<It>>(by);
}

/// Two iterators that go together.
template <class A, class B>
struct iterator_pair {
  A first;
  B second;

  iterator_pair& operator++() {
    ++first;
    ++second;
    return *this;
  }
};

template <class A, class B>
iterator_pair<A, B> advanced(const iterator_pair<A, B>& from, std::size_t by) {
  return {detail::advanced(from.first, by), detail::advanced(from.second, by)};
}

/// The number of elements, 0 if last comes before first. Counts them if the iterators cannot be subtracted.
template <class It, class S>
std::size_t size_between(const It& first, const S& last) {
  static_assert(!std::is_same_v<S, std::unreachable_sentinel_t>,
                "forkjoin: a sequence needs an end, as it is cut into parts; std::unreachable_sentinel is none");
  const std::iter_difference_t<It> n = std::ranges::distance(first, last);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

template <class It, class S>
It end_between(const It& first, const S& last) {
  return detail::advanced(first, detail::size_between(first, last));
}

template <class Range>
std::size_t size_of(Range& range) {
  return static_cast<std::size_t>(std::ranges::size(range));
}

/// Whether `*it` writes through a proxy for a bool, as that of a std::vector<bool> with any allocator: neighbors share
/// a word. Also when a view has copied the proxy, which is then its value, and when a std::tuple or std::pair of
/// references, as a zipped sequence has it, contains one.
template <class Reference, class Value>
inline constexpr bool shares_words =
    std::is_class_v<std::remove_cvref_t<Reference>> && std::is_assignable_v<Reference, bool> &&
    (std::is_same_v<Value, bool> || (std::is_same_v<Value, Reference> && requires(Reference bit) {
       static_cast<bool>(bit);
       bit.flip();
     }));
template <class... References, class... Values>
inline constexpr bool shares_words<std::tuple<References...>, std::tuple<Values...>> =
    (shares_words<References, Values> || ...);
template <class R1, class R2, class V1, class V2>
inline constexpr bool shares_words<std::pair<R1, R2>, std::pair<V1, V2>> = shares_words<R1, V1> || shares_words<R2, V2>;

template <class It>
concept packed_bits = shares_words<std::iter_reference_t<It>, std::iter_value_t<It>>;

/// Outputs whose elements several threads may write at the same time, each its own.
template <class Out>
concept divisible_output = std::random_access_iterator<Out> && !packed_bits<Out>;

/// A pointer after an array is its end: the array is then the first of two iterators, and no range.
template <class T>
concept array_end = std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>;

/// Tells outputs from operations and from values, to choose an overload. It asks for members, as a look for an
/// iterator's operators would go through all namespaces that the type of an operation mentions. A value may be a
/// container.
template <class T>
concept like_iterator =
    array_end<T> || (requires { typename T::difference_type; } && !requires(T& container) { container.begin(); });

template <class T>
concept not_options = !std::is_same_v<std::remove_cvref_t<T>, loop_options>;

template <class... T>
inline constexpr bool always_false = false;

}}}  // namespace fj::v0_4::detail
