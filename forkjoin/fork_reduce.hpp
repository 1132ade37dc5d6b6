// A reduction over children that are forked one by one.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/iterations.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/sequence.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class T, class Op, class Result>
consteval auto why_not_fork_reduce_values() {
  using value = std::remove_cvref_t<Result>;
  if constexpr (!std::move_constructible<T> || !std::assignable_from<T&, T>) {
    return refusal("the initial value cannot move: it must be movable, as all sums are");
  } else if constexpr (std::is_void_v<Result>) {
    return refusal("the body returns nothing: it must return a value; fj::fork_each takes bodies that return nothing");
  } else if constexpr (!std::move_constructible<value>) {
    return refusal("what the body returns cannot move: it must be movable; return a std::unique_ptr to it");
  } else if constexpr (!std::constructible_from<value, Result>) {
    return refusal("the body returns a reference to what cannot be copied; return the value itself");
  } else if constexpr (!std::is_invocable_r_v<T, Op&, T, value>) {
    return refusal(
        "the operation does not fit: it must be callable with the sum so far and a value of the body, and return the "
        "new sum");
  } else {
    return not_refused;
  }
}

template <class First, class Last, class T, class Op, class Body>
consteval auto why_not_fork_reduce() {
  if constexpr (constexpr auto why = detail::why_not_loop<First, Last, Body>(); !why.is_empty()) {
    return why;
  } else {
    return detail::why_not_fork_reduce_values<T, Op, typename iterations_of<First, Last, Body, no_options>::result>();
  }
}

template <class Range, class T, class Op, class Body>
consteval auto why_not_range_fork_reduce() {
  if constexpr (constexpr auto why = detail::why_not_range_loop<Range, Body>(); !why.is_empty()) {
    return why;
  } else {
    using first = std::ranges::iterator_t<Range>;
    return detail::why_not_fork_reduce<first, first, T, Op, Body>();
  }
}

template <class Options, class First, class Last, class T, class Op, class Body>
[[gnu::noinline]] T fork_reduce_of(First first, Last last, T init, Op op, body_argument<Body> body,
                                   const Options& options) {
  using sequence = sequence_from<First, Last>;
  using iterations = iterations_of<First, Last, Body, Options>;
  const std::size_t n = sequence::size("fj::fork_reduce", first, last);
  const iterations all({static_cast<decltype(sequence::type::first)>(first)}, n, body, options);
  return detail::fork_values<typename iterations::value>(all.iterations(n), std::move(init), all, op);
}

}  // namespace detail

/// op(... op(op(init, body(first)), body(first + 1)) ..., body(last - 1)) for indices, or with body(*i) for
/// random-access iterators: each call of the body, or each group of options.grain calls, is a fork, as in fork_each. It
/// is meant for recursive functions that call themselves for some children and combine the results.
///
/// One strand calls op, in the order of the serial program, so op may be any function: it need not be associative, and
/// the result is the serial program's to the last bit, with any schedule. But what the body returns is rounded before
/// op gets it: a serial program whose products and sums g++ fuses (not with -ffp-contract=off) differs. For long
/// sequences parallel_reduce is faster.
///
/// It always forks by fj::continuations. If nothing is stolen it allocates nothing; the first thief of a call allocates
/// room for the remaining values.
///
/// Errors: the exception that the plain loop would throw, from body or op; later calls of the body that have not
/// started do not start. std::bad_alloc. fj::cancelled if options.stop was asked to stop before every iteration had
/// started. std::invalid_argument as parallel_for. Outside a runtime the call enters the default one.
template <class First, class Last, class T, class Op, class Body>
  requires detail::accepted<detail::why_not_fork_reduce<First, Last, T, Op, Body>()>
[[nodiscard, gnu::always_inline]] inline T fork_reduce(First first, Last last, T init, Op op, Body&& body) {
  return detail::fork_reduce_of<detail::no_options, First, Last, T, Op, Body>(first, last, std::move(init),
                                                                              std::move(op), body, {});
}

template <class First, class Last, class T, class Op, class Body>
  requires detail::accepted<detail::why_not_fork_reduce<First, Last, T, Op, Body>()>
[[nodiscard]] T fork_reduce(First first, Last last, T init, Op op, Body&& body, const loop_options& options) {
  return detail::fork_reduce_of<loop_options, First, Last, T, Op, Body>(first, last, std::move(init), std::move(op),
                                                                        body, options);
}

template <class First, class Last, class T, class Op, class Body, class = detail::when<detail::not_options<Body>>,
          auto Why = detail::why_not_fork_reduce<First, Last, T, Op, Body>()>
  requires(!detail::accepted<Why>)
T fork_reduce(First first, Last last, T init, Op op, Body&& body, const loop_options& options = {}) = delete;

/// The same for the elements of a range, which must be a random-access one with a size.
template <std::ranges::range Range, class T, class Op, class Body>
  requires detail::accepted<detail::why_not_range_fork_reduce<Range, T, Op, Body>()>
[[nodiscard, gnu::always_inline]] inline T fork_reduce(Range&& range, T init, Op op, Body&& body) {
  const auto first = std::ranges::begin(range);
  return fj::fork_reduce(first, detail::advanced(first, detail::size_of(range)), std::move(init), std::move(op),
                         std::forward<Body>(body));
}

template <std::ranges::range Range, class T, class Op, class Body>
  requires detail::accepted<detail::why_not_range_fork_reduce<Range, T, Op, Body>()>
[[nodiscard]] T fork_reduce(Range&& range, T init, Op op, Body&& body, const loop_options& options) {
  const auto first = std::ranges::begin(range);
  return fj::fork_reduce(first, detail::advanced(first, detail::size_of(range)), std::move(init), std::move(op),
                         std::forward<Body>(body), options);
}

template <std::ranges::range Range, class T, class Op, class Body,
          auto Why = detail::why_not_range_fork_reduce<Range, T, Op, Body>()>
  requires(!detail::accepted<Why>)
T fork_reduce(Range&& range, T init, Op op, Body&& body, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
