// The bounds of loops: indices, iterators, ranges; and the messages for those they refuse.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loops/sequence.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Integers as std::cmp_less takes them: neither truth values nor characters.
template <class It, class Plain = std::remove_cv_t<It>>
concept index =
    std::integral<It> && !std::same_as<Plain, bool> && !std::same_as<Plain, char> && !std::same_as<Plain, wchar_t> &&
    !std::same_as<Plain, char8_t> && !std::same_as<Plain, char16_t> && !std::same_as<Plain, char32_t>;

/// Indices from `first` on, by number.
template <class Index>
struct indices_from {
  Index first;

  [[gnu::always_inline]] Index operator[](std::size_t i) const noexcept {
    return static_cast<Index>(static_cast<std::size_t>(first) + i);
  }
};

/// [first, last), maybe of two types, as the indices of a loop. Their type is the common type of both.
template <class First, class Last>
class index_range {
 public:
  using type = std::common_type_t<First, Last>;

  index_range(const char* loop, First first, Last last) : first_(static_cast<type>(first)) {
    if (!std::cmp_less(first, last)) return;
    if (std::cmp_less(first, 0) && std::is_unsigned_v<type>) refuse(loop, std::to_string(first));
    size_ = static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
  }

  std::size_t size() const noexcept { return size_; }
  indices_from<type> indices() const noexcept { return {first_}; }
  type operator[](std::size_t n) const noexcept { return indices()[n]; }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(const char* loop, const std::string& first) {
    throw std::invalid_argument(std::string(loop) + ": the first index is " + first +
                                ", but the other one is unsigned, so the indices would be; make both signed");
  }

  type first_;
  std::size_t size_ = 0;
};

/// Why a loop refuses a body of one element.
template <class It, class Body>
consteval auto why_not_elements() {
  if constexpr (packed_bits<It>) {
    return packed_elements_of_loop;
  } else if constexpr (!std::is_invocable_v<Body&, std::iter_reference_t<It>>) {
    return refusal("the body takes no element: it must be callable with an element of the sequence");
  } else {
    return not_refused;
  }
}

template <class First, class Last>
consteval auto why_not_indices() {
  if constexpr (sizeof(First) > sizeof(std::size_t) || sizeof(Last) > sizeof(std::size_t)) {
    return refusal("the indices are too large: they must be no larger than std::size_t");
  } else {
    return not_refused;
  }
}

template <class First, class Last>
consteval auto why_not_bounds() {
  if constexpr (index<First> && index<Last>) {
    return detail::why_not_indices<First, Last>();
  } else if constexpr (!divisible_sequence<First, Last>) {
    return refusal(
        "no integers or random access: first and last must be integers, not characters, or random-access iterators; "
        "what has only others, as a std::list, can be copied or have its iterators put into a std::vector");
  } else {
    return not_refused;
  }
}

template <class First, class Last, class Body>
consteval auto why_not_loop() {
  if constexpr (constexpr auto why = detail::why_not_bounds<First, Last>(); !why.is_empty()) {
    return why;
  } else if constexpr (!index<First>) {
    return detail::why_not_elements<First, Body>();
  } else if constexpr (!std::is_invocable_v<Body&, std::common_type_t<First, Last>>) {
    return refusal("the body takes no index: it must be callable with one");
  } else {
    return not_refused;
  }
}

template <class Range>
consteval auto why_not_range() {
  if constexpr (!divisible_range<Range>) {
    return undivisible_range;
  } else {
    return not_refused;
  }
}

template <class Range, class Body>
consteval auto why_not_range_loop() {
  if constexpr (constexpr auto why = detail::why_not_range<Range>(); !why.is_empty()) {
    return why;
  } else {
    return detail::why_not_elements<std::ranges::iterator_t<Range>, Body>();
  }
}

}}}  // namespace fj::v0_4::detail
