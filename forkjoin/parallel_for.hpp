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

namespace fj { inline namespace v0_2 {

namespace detail {

template <class First, class Last, class Body>
[[gnu::always_inline]] inline void for_indices(First first, Last last, Body& body, const loop_options& options) {
  const index_range<First, Last> range("fj::parallel_for", first, last);
  using type = typename index_range<First, Last>::type;
  const auto indices = range.indices();
  detail::for_parts(range.size(), options, [indices, &body](std::size_t begin, std::size_t end) {
    // Opaque: if clang knows that it is a sum it counts from 0, and adds in each turn; loops of a few instructions took up to 8 %
    // longer.
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

/// Calls body(i) for all indices in [first, last), or body(*i) for all iterators, possibly in parallel. Indices have
/// the common type of first and last. If first >= last, the loop has no index. Iterators must be random-access ones.
/// Those of a writable std::vector<bool> are refused, because its neighbors share words.
///
/// Without options.grain the calling strand starts alone, first with one element and then with parts of a few microseconds. It shares
/// the loop once the loop has run for 6 microseconds, or seems to need as much more. The bound is 256 microseconds where sharing has not
/// proved faster for loops with this body and of about this length. To find out, 32 loops now and then use the two bounds in turn. Where
/// sharing has proved faster, a loop is shared from its start. If an element takes long, a thief takes all that comes after its part.
///
/// What an earlier loop of as many elements with the same body took decides the parts. If it took 2 microseconds at most, the first part
/// has 16 elements (1 if there are no more than 16), and the second part has all others. If it took about 0.35 microseconds at most, there
/// is a single part, which thieves cannot take. If the elements of such a loop take long all the same, the next loops are cut into parts
/// again. A loop of a few microseconds therefore costs little more than the plain one, on any number of Ps whose processors share a cache.
/// No element may wait for a later one: on one P, and in one part, that never ends.
///
/// A shared loop is divided into about two parts for each P. A strand runs its part in chunks of a few microseconds, whose size it
/// finds by the clock. When a worker has nothing to do, the strand forks half of its remaining part. On one P, without options.stop and a
/// grain, parallel_for is the plain loop, until the first fiber, wait or blocking call of the runtime. With a grain, the loop is halved
/// down to blocks of so many indices, always in the same way; the last block may be shorter.
///
/// With one P the order is the plain loop's. With more Ps, each P begins in its own section of the
/// loop. The section is the same from loop to loop, because its data may still be in the cache. Errors: what the body
/// throws; of several exceptions, the first in the order of the loop. Later calls that have not started do not start.
/// fj::cancelled if options.stop was asked to stop before every part had started. std::invalid_argument if first is
/// negative and the common type unsigned.
///
/// Outside a runtime the call enters the default one. Several threads may call the body at the same time. The loop
/// does not copy the body, with one exception: if the body has at most 128 bytes, is trivially copyable and can be
/// called as const for a result of the same type, as most lambdas can, each part of the loop calls a copy. That copy is
/// const: of two operators () it calls the const one. The compiler can keep it in registers.
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

/// Calls body(i) for first, first + step, first + 2 step, ... below last. The grain is a number of calls. All else as above;
/// std::invalid_argument if step is less than 1.
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

}}  // namespace fj::v0_2
