// A loop that forks each iteration. The continuation is the rest of the loop.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <cstddef>
#include <ranges>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/iterations.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/stop.hpp"
#include "forkjoin/with_scope.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

// With the default policy a loop with one join; with other policies a scope.
template <class Policy, class Options, class First, class Last, class Body>
[[gnu::noinline]] void fork_each_of(First first, Last last, body_argument<Body> body, const Options& options) {
  using sequence = sequence_from<First, Last>;
  const std::size_t n = sequence::size("fj::fork_each", first, last);
  iterations_of<First, Last, Body, Options> iterations({static_cast<decltype(sequence::type::first)>(first)}, n, body,
                                                       options);
  if constexpr (std::is_same_v<Policy, continuations>) {
    detail::fork_iterations(iterations.iterations(n), iterations);
  } else {
    with_scope<Policy>(options.stop ? *options.stop : stop_token(), [&](basic_scope<Policy>& s) {
      for (std::size_t iteration = 0; iteration < iterations.iterations(n); ++iteration) {
        const bool stopped = s.stopped();
        s.fork([&iterations, iteration] {
          iterations.start(iteration);
          iterations(iteration);
        });
        if (stopped) return;  // the scope left out that fork, which the join reports, and would leave out all others
      }
    });
  }
}

}  // namespace detail

/// Calls body(i) for all indices in [first, last), or body(*i) for random-access iterators: each iteration of the loop,
/// or each group of options.grain iterations, is a fork. Thieves may steal the rest of the loop, which is one
/// continuation for any length. So the loop takes the memory of one fork, and the iterations begin in order. It suits
/// iterations that take very different times, or that fork themselves, because thieves get them one by one. For short
/// iterations parallel_for costs less.
///
/// With a policy of fj::last_child_first the iterations begin in reverse order, and the loop holds a record and a
/// closure for each iteration in memory.
///
/// Errors: the exception that the plain loop would throw; later iterations that have not started do not start.
/// fj::cancelled if options.stop was asked to stop before every iteration had started. std::invalid_argument as
/// parallel_for. Outside of a runtime the call enters the default one.
///
/// Cost if nothing is stolen: about 20 instructions an iteration with the default policy; no allocation, no fence.
template <detail::a_policy Policy = continuations, class First, class Last, class Body>
  requires detail::accepted<detail::why_not_loop<First, Last, Body>()>
[[gnu::always_inline]] inline void fork_each(First first, Last last, Body&& body) {
  detail::fork_each_of<Policy, detail::no_options, First, Last, Body>(first, last, body, {});
}

template <detail::a_policy Policy = continuations, class First, class Last, class Body>
  requires detail::accepted<detail::why_not_loop<First, Last, Body>()>
void fork_each(First first, Last last, Body&& body, const loop_options& options) {
  detail::fork_each_of<Policy, loop_options, First, Last, Body>(first, last, body, options);
}

template <detail::a_policy Policy = continuations, class First, class Last, class Body,
          class = detail::when<detail::not_options<Body>>, auto Why = detail::why_not_loop<First, Last, Body>()>
  requires(!detail::accepted<Why>)
void fork_each(First first, Last last, Body&& body, const loop_options& options = {}) = delete;

/// The same for the elements of a range, which must be a random-access one with a size.
template <detail::a_policy Policy = continuations, class Range, class Body>
  requires detail::accepted<detail::why_not_range_loop<Range, Body>()>
[[gnu::always_inline]] inline void fork_each(Range&& range, Body&& body) {
  const auto first = std::ranges::begin(range);
  fj::fork_each<Policy>(first, detail::advanced(first, detail::size_of(range)), std::forward<Body>(body));
}

template <detail::a_policy Policy = continuations, class Range, class Body>
  requires detail::accepted<detail::why_not_range_loop<Range, Body>()>
void fork_each(Range&& range, Body&& body, const loop_options& options) {
  const auto first = std::ranges::begin(range);
  fj::fork_each<Policy>(first, detail::advanced(first, detail::size_of(range)), std::forward<Body>(body), options);
}

template <detail::a_policy Policy = continuations, class Range, class Body,
          auto Why = detail::why_not_range_loop<Range, Body>()>
  requires(!detail::accepted<Why>)
void fork_each(Range&& range, Body&& body, const loop_options& options = {}) = delete;

template <detail::no_policy Policy, class... Arguments, auto Why = detail::why_no_policy>
void fork_each(Arguments&&...) = delete;

}}  // namespace fj::v0_4
