// A loop whose every turn is a fork, with the rest of the loop as the one continuation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>

#include "forkjoin/options.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/sequence.hpp"
#include "forkjoin/split_loop.hpp"
#include "forkjoin/with_scope.hpp"

namespace fj::inline v0_1 {

namespace detail {

inline void fork_turns(std::size_t n, const loop_options& options, loop_leaf leaf) {
  const std::size_t grain = std::max<std::size_t>(options.grain, 1);
  with_scope(options.stop ? *options.stop : stop_token(), [&](scope& s) {
    for (std::size_t begin = 0; begin < n; begin += std::min(grain, n - begin)) {
      const std::size_t end = begin + std::min(grain, n - begin);
      const bool stopped = s.stopped();
      s.fork([leaf, begin, end] { leaf(begin, end); });
      if (stopped) return;  // that fork was left out, which the join reports, and so would be all others
    }
  });
}

}  // namespace detail

/// Calls body(i) for all indices in [first, last), or body(*i) for random-access iterators: each turn of the loop, or every
/// options.grain turns, is a fork, and what others may take is the rest of the loop, one continuation however long it is.
/// So the loop itself takes the memory of one fork, the turns begin in order, and turns that take very different times,
/// or fork themselves, are shared out one by one. Where turns are short, parallel_for costs less.
///
/// By continuations only: with tasks a loop would put up all of its turns.
///
/// Errors: the exception of the plain loop; turns after it that have not started do not start. fj::cancelled if
/// options.stop asked before every turn had started. Outside of a runtime it enters the default one.
template <class First, class Last, class Body>
  requires detail::not_options<Body>
void fork_each(First first, Last last, Body&& body, const loop_options& options = {}) {
  if constexpr (detail::index<First> && detail::index<Last>) {
    const detail::index_range<First, Last> indices("fj::fork_each", first, last);
    using type = typename detail::index_range<First, Last>::type;
    static_assert(std::is_invocable_v<Body&, type>, "fj::fork_each: the body must be callable with an index");
    detail::fork_turns(indices.size(), options, [&](std::size_t begin, std::size_t end) {
      for (; begin != end; ++begin) std::invoke(body, indices[begin]);
    });
  } else if constexpr (detail::divisible_sequence<First, Last>) {
    static_assert(!detail::packed_bits<First>,
                  "fj::fork_each: neighbours in a std::vector<bool> cannot be written at the same time; use a "
                  "std::vector<char>, or, to read only, std::as_const");
    static_assert(std::is_invocable_v<Body&, std::iter_reference_t<First>>,
                  "fj::fork_each: the body must be callable with an element of the sequence");
    detail::fork_turns(detail::size_between(first, last), options, [&](std::size_t begin, std::size_t end) {
      for (; begin != end; ++begin) std::invoke(body, *detail::advanced(first, begin));
    });
  } else {
    static_assert(detail::never<First>,
                  "fj::fork_each: first and last must be integers, not characters, or random-access iterators");
  }
}

/// The same for the elements of a range, which must be a random-access one with a size.
template <class Range, class Body>
void fork_each(Range&& range, Body&& body, const loop_options& options = {}) {
  static_assert(detail::divisible_range<Range>, "fj::fork_each: the range must have random access and a size");
  if constexpr (detail::divisible_range<Range>) {
    const auto first = std::ranges::begin(range);
    fj::fork_each(first, detail::advanced(first, static_cast<std::size_t>(std::ranges::size(range))), body, options);
  }
}

}  // namespace fj::inline v0_1
