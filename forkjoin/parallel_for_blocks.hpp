// The parallel loop over blocks: the body gets the two ends of each.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <cstddef>
#include <functional>
#include <ranges>
#include <type_traits>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/split_loop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class It, class Body>
void for_iterator_blocks(const It& first, std::size_t n, Body& body, const loop_options& options) {
  detail::for_parts<detail::loop_parts::of_blocks>(n, options, [&](std::size_t begin, std::size_t end) {
    static_cast<void>(std::invoke(body, detail::advanced(first, begin), detail::advanced(first, end)));
  });
}

template <class It, class Body>
consteval auto why_not_iterator_blocks() {
  if constexpr (packed_bits<It>) {
    return packed_elements_of_loop;
  } else if constexpr (!std::is_invocable_v<Body&, It, It>) {
    return refusal("the body takes no two iterators: it must be callable with the ends of a block");
  } else {
    return not_refused;
  }
}

template <class First, class Last, class Body>
consteval auto why_not_blocks() {
  if constexpr (constexpr auto why = detail::why_not_bounds<First, Last>(); !why.is_empty()) {
    return why;
  } else if constexpr (!index<First>) {
    return detail::why_not_iterator_blocks<First, Body>();
  } else if constexpr (!std::is_invocable_v<Body&, std::common_type_t<First, Last>, std::common_type_t<First, Last>>) {
    return refusal("the body takes no two indices: it must be callable with the ends of a block");
  } else {
    return not_refused;
  }
}

template <class Range, class Body>
consteval auto why_not_range_blocks() {
  if constexpr (constexpr auto why = detail::why_not_range<Range>(); !why.is_empty()) {
    return why;
  } else {
    return detail::why_not_iterator_blocks<std::ranges::iterator_t<Range>, Body>();
  }
}

}  // namespace detail

/// Calls body(begin, end) for blocks, none of them empty, that together make up [first, last), possibly in parallel:
/// for bodies that process a block faster than its elements one by one. Indices, iterators, order, exceptions and
/// cancellation are those of parallel_for. With options.grain each block but the last has so many elements. Without a
/// grain the blocks have any size, from one element to all of them: on one P there may be a single block, and otherwise
/// each strand finds the size by the clock and by what earlier loops took.
template <class First, class Last, class Body>
  requires detail::not_options<Body> && detail::accepted<detail::why_not_blocks<First, Last, Body>()>
void parallel_for_blocks(First first, Last last, Body&& body, const loop_options& options = {}) {
  if constexpr (detail::index<First>) {
    const detail::index_range<First, Last> indices("fj::parallel_for_blocks", first, last);
    detail::for_parts<detail::loop_parts::of_blocks>(indices.size(), options, [&](std::size_t begin, std::size_t end) {
      static_cast<void>(std::invoke(body, indices[begin], indices[end]));
    });
  } else {
    detail::for_iterator_blocks(first, detail::size_between(first, last), body, options);
  }
}

template <class First, class Last, class Body, class = detail::when<detail::not_options<Body>>,
          auto Why = detail::why_not_blocks<First, Last, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for_blocks(First first, Last last, Body&& body, const loop_options& options = {}) = delete;

/// The same for the elements of a range, which must be a random-access one with a size: body(begin, end) with
/// iterators.
template <class Range, class Body>
  requires detail::accepted<detail::why_not_range_blocks<Range, Body>()>
void parallel_for_blocks(Range&& range, Body&& body, const loop_options& options = {}) {
  detail::for_iterator_blocks(std::ranges::begin(range), detail::size_of(range), body, options);
}

template <class Range, class Body, auto Why = detail::why_not_range_blocks<Range, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for_blocks(Range&& range, Body&& body, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
