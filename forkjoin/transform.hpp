// The parallel std::transform.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>

#include "forkjoin/options.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/sequence.hpp"
#include "forkjoin/split_loop.hpp"

namespace fj::inline v0_1 {

namespace detail {

/// *out = op(*in...) for n elements of each.
template <class Policy, class Out, class Op, class... In>
Out transform(std::size_t n, Op& op, const loop_options& options, const Out& out, const In&... in) {
  constexpr bool sound = std::is_invocable_v<Op&, std::iter_reference_t<In>...>;
  static_assert(divisible_output<Out>,
                "fj::parallel_transform: the output must be a random-access iterator, and not that of a "
                "std::vector<bool>, whose neighbours cannot be written at the same time");
  static_assert(sound, "fj::parallel_transform: the operation must be callable with the elements");
  if constexpr (divisible_output<Out> && sound) {
    using result = std::invoke_result_t<Op&, std::iter_reference_t<In>...>;
    static_assert(std::is_assignable_v<std::iter_reference_t<Out>, result>,
                  "fj::parallel_transform: what the operation returns must be assignable to the output");
    for_parts<Policy>(n, options, [&](std::size_t begin, std::size_t end) {
      const auto transform_part = [&op, n = end - begin](Out to, In... from) {
        for (std::size_t i = 0; i != n; ++i) {
          *to = std::invoke(op, *from...);
          ++to;
          (++from, ...);
        }
      };
      transform_part(detail::advanced(out, begin), detail::advanced(in, begin)...);
    });
  }
  return detail::advanced(out, n);
}

}  // namespace detail

/// *(out + k) = op(*(first + k)) for all elements, possibly in parallel; out may be first. Returns the end of the output, as
/// std::transform. In parallel, in order, and with errors as parallel_for has them; all iterators are random-access ones.
template <class Policy = continuations, class First, class Last, class Out, class Op>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op>
Out parallel_transform(First first, Last last, Out out, Op op, const loop_options& options = {}) {
  static_assert(detail::divisible_sequence<First, Last>,
                "fj::parallel_transform: first and last must be random-access iterators");
  if constexpr (detail::divisible_sequence<First, Last>) {
    return detail::transform<Policy>(detail::size_between(first, last), op, options, out, first);
  }
}

/// *(out + k) = op(*(first + k), *(second + k)), likewise.
template <class Policy = continuations, class First, class Last, class Second, class Out, class Op>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op>
Out parallel_transform(First first, Last last, Second second, Out out, Op op, const loop_options& options = {}) {
  static_assert(detail::divisible_sequence<First, Last> && std::random_access_iterator<Second>,
                "fj::parallel_transform: first, last and second must be random-access iterators");
  if constexpr (detail::divisible_sequence<First, Last> && std::random_access_iterator<Second>) {
    return detail::transform<Policy>(detail::size_between(first, last), op, options, out, first, second);
  }
}

/// The same for all elements of a range.
template <class Policy = continuations, std::ranges::range Range, class Out, class Op>
  requires detail::not_options<Op>
Out parallel_transform(Range&& range, Out out, Op op, const loop_options& options = {}) {
  static_assert(detail::divisible_range<Range>, "fj::parallel_transform: the range must have random access and a size");
  if constexpr (detail::divisible_range<Range>) {
    return detail::transform<Policy>(static_cast<std::size_t>(std::ranges::size(range)), op, options, out,
                                     std::ranges::begin(range));
  }
}

}  // namespace fj::inline v0_1
