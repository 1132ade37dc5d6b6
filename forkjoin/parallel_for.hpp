// The parallel loop.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/os/compiler.hpp"
#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/own_copy.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/split_loop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class First, class Last, class Body>
[[gnu::always_inline]] inline void for_indices(First first, Last last, Body& body, const loop_options& options) {
  const index_range<First, Last> range("fj::parallel_for", first, last);
  using type = typename index_range<First, Last>::type;
  const auto indices = range.indices();
  detail::for_parts(range.size(), options, [indices, &body](std::size_t begin, std::size_t end) {
    // Opaque: if clang knows that it is a sum it counts from 0, and adds in each iteration; loops of a few instructions
    // took up to 8 % longer.
    const type first_index = os::opaque(indices[begin]), last_index = indices[end];
    detail::with_own_copy<type>(body, [&](auto& own) {
      for (type i = first_index; i != last_index; ++i) static_cast<void>(std::invoke(own, type(i)));
    });
  });
}

template <class First, class Last, class Step, class Body>
void for_steps(First first, Last last, Step step, Body& body, const loop_options& options) {
  if (!std::cmp_greater(step, 0))
    throw std::invalid_argument("fj::parallel_for: the step is " + std::to_string(step) +
                                ", but must be at least 1; to go downwards, go upwards and subtract in the body");
  const index_range<First, Last> indices("fj::parallel_for", first, last);
  const auto stride = static_cast<std::size_t>(step);
  detail::for_parts(blocks_of(indices.size(), stride), options, [&](std::size_t begin, std::size_t end) {
    detail::with_own_copy<typename index_range<First, Last>::type>(body, [&](auto& own) {
      for (; begin != end; ++begin) static_cast<void>(std::invoke(own, indices[begin * stride]));
    });
  });
}

template <class It, class Body>
[[gnu::always_inline]] inline void for_elements(const It& first, std::size_t n, Body& body,
                                                const loop_options& options) {
  detail::for_parts(n, options, [first, &body](std::size_t begin, std::size_t end) {
    const It last = detail::advanced(first, end);
    detail::with_own_copy<std::iter_reference_t<It>>(body, [&](auto& own) {
      for (It at = detail::advanced(first, begin); at != last; ++at) static_cast<void>(std::invoke(own, *at));
    });
  });
}

template <class First, class Last, class Step, class Body>
consteval auto why_not_steps() {
  if constexpr (!index<Step> || sizeof(Step) > sizeof(std::size_t)) {
    return refusal(
        "the step is no integer: it stands before the body, and must be an integer, not a character; a grain goes into "
        "braces behind the body: {.grain = 64}");
  } else if constexpr (!index<First> || !index<Last>) {
    return refusal(
        "a step goes with indices only, which are integers, not characters; loop over the indices of the elements");
  } else {
    return detail::why_not_loop<First, Last, Body>();
  }
}

}  // namespace detail

/// Calls body(i) for all indices in [first, last), or body(*i) for all iterators, possibly in parallel, and returns
/// when all calls have ended (none if first >= last). Indices have the common type of first and last. Iterators must be
/// random-access ones, not of a writable std::vector<bool>. Without options.grain the loop cuts itself into parts by
/// the clock (loops/chunks.hpp), and costs little more than a plain loop where it is brief. With a grain it is halved
/// down to blocks of so many indices, always in the same way. No element may wait for a later one. With one P the order
/// is the plain loop's. Errors: what the body throws, of several the first in the loop's order; later calls that have
/// not started do not start. fj::cancelled if options.stop was asked to stop before every part had started.
/// std::invalid_argument if first is negative and the common type unsigned. Outside a runtime the call enters the
/// default one. Several threads may call the body at the same time. It is not copied, but each part calls a const copy
/// of a trivially copyable body of at most 128 bytes that can be called as const for a result of the same type.
template <class First, class Last, class Body>
  requires detail::not_options<Body> && detail::accepted<detail::why_not_loop<First, Last, Body>()>
[[gnu::always_inline]] inline void parallel_for(First first, Last last, Body&& body,
                                                const loop_options& options = {}) {  // .grain, .stop
  if constexpr (detail::index<First>) {
    detail::for_indices(first, last, body, options);
  } else {
    detail::for_elements(first, detail::size_between(first, last), body, options);
  }
}

template <class First, class Last, class Body, class = detail::when<detail::not_options<Body>>,
          auto Why = detail::why_not_loop<First, Last, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for(First first, Last last, Body&& body, const loop_options& options = {}) = delete;

/// Calls body(i) for first, first + step, first + 2 step, ... below last. The grain is a number of calls. All else as
/// above; std::invalid_argument if step is less than 1.
template <class First, class Last, class Step, class Body>
  requires detail::not_options<Body> && detail::accepted<detail::why_not_steps<First, Last, Step, Body>()>
void parallel_for(First first, Last last, Step step, Body&& body, const loop_options& options = {}) {
  detail::for_steps(first, last, step, body, options);
}

template <class First, class Last, class Step, class Body, class = detail::when<detail::not_options<Body>>,
          auto Why = detail::why_not_steps<First, Last, Step, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for(First first, Last last, Step step, Body&& body, const loop_options& options = {}) = delete;

/// The same for the elements of a range, which must be a random-access one with a size.
template <class Range, class Body>
  requires detail::accepted<detail::why_not_range_loop<Range, Body>()>
void parallel_for(Range&& range, Body&& body, const loop_options& options = {}) {  // .grain, .stop
  detail::for_elements(std::ranges::begin(range), detail::size_of(range), body, options);
}

template <class Range, class Body, auto Why = detail::why_not_range_loop<Range, Body>()>
  requires(!detail::accepted<Why>)
void parallel_for(Range&& range, Body&& body, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
