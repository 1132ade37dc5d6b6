// A loop that forks each turn: the rest of the loop is the continuation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/split_loop.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/stop.hpp"
#include "forkjoin/with_scope.hpp"

namespace fj::inline v0_1 {

namespace detail {

template <class Policy>
void fork_turns(std::size_t n, const loop_options& options, loop_leaf leaf) {
  const std::size_t grain = std::max<std::size_t>(options.grain, 1);
  with_scope<Policy>(options.stop ? *options.stop : stop_token(), [&](basic_scope<Policy>& s) {
    for (std::size_t begin = 0; begin < n; begin += std::min(grain, n - begin)) {
      const std::size_t end = begin + std::min(grain, n - begin);
      const bool stopped = s.stopped();
      s.fork([leaf, begin, end] { leaf(begin, end); });
      if (stopped) return;  // the scope left out that fork, which the join reports, and would leave out all others
    }
  });
}

}  // namespace detail

/// Calls body(i) for all indices in [first, last), or body(*i) for random-access iterators: each turn of the loop, or every
/// options.grain turns, is a fork. Thieves may steal the rest of the loop, which is one continuation however long it is.
/// So the loop takes the memory of one fork, and the turns begin in order. Turns that take very different times, or fork
/// themselves, are shared out one by one. Where turns are short, parallel_for costs less.
///
/// With a policy of fj::last_child_first the turns begin in reverse, and the loop holds a record and a closure of each in memory.
///
/// Errors: the exception of the plain loop; turns after it that have not started do not start. fj::cancelled if
/// options.stop asked before every turn had started. Outside of a runtime it enters the default one.
template <class Policy = continuations, class First, class Last, class Body>
  requires detail::not_options<Body> && detail::accepted<detail::why_not_loop<"fj::fork_each", First, Last, Body>()>
void fork_each(First first, Last last, Body&& body, const loop_options& options = {}) {
  if constexpr (detail::index<First>) {
    const detail::index_range<First, Last> indices("fj::fork_each", first, last);
    detail::fork_turns<Policy>(indices.size(), options, [&](std::size_t begin, std::size_t end) {
      for (; begin != end; ++begin) std::invoke(body, indices[begin]);
    });
  } else {
    detail::fork_turns<Policy>(detail::size_between(first, last), options, [&](std::size_t begin, std::size_t end) {
      for (; begin != end; ++begin) std::invoke(body, *detail::advanced(first, begin));
    });
  }
}

template <class Policy = continuations, class First, class Last, class Body,
          class = detail::when<detail::not_options<Body>>,
          auto Why = detail::why_not_loop<"fj::fork_each", First, Last, Body>()>
  requires(!detail::accepted<Why>)
void fork_each(First first, Last last, Body&& body, const loop_options& options = {}) = delete;

/// The same for the elements of a range, which must be a random-access one with a size.
template <class Policy = continuations, class Range, class Body>
  requires detail::accepted<detail::why_not_range_loop<"fj::fork_each", Range, Body>()>
void fork_each(Range&& range, Body&& body, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  fj::fork_each<Policy>(first, detail::advanced(first, detail::size_of(range)), body, options);
}

template <class Policy = continuations, class Range, class Body,
          auto Why = detail::why_not_range_loop<"fj::fork_each", Range, Body>()>
  requires(!detail::accepted<Why>)
void fork_each(Range&& range, Body&& body, const loop_options& options = {}) = delete;

}  // namespace fj::inline v0_1
