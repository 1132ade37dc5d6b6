// The parallel std::transform.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/split_loop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// *out = op(*in...) for n elements of each.
template <class Out, class Op, class... In>
Out transform(std::size_t n, Op& op, const loop_options& options, const Out& out, const In&... in) {
  detail::for_parts(n, options, [&](std::size_t begin, std::size_t end) {
    const auto transform_part = [&op, n = end - begin](Out to, In... from) {
      for (std::size_t i = 0; i != n; ++i) {
        *to = std::invoke(op, *from...);
        ++to;
        (static_cast<void>(++from), ...);
      }
    };
    transform_part(detail::advanced(out, begin), detail::advanced(in, begin)...);
  });
  return detail::advanced(out, n);
}

template <class Out, class Op, class... In>
consteval auto why_not_transform() {
  if constexpr (!(std::random_access_iterator<In> && ...)) {
    return refusal("no random access: first, last and second must be random-access iterators");
  } else if constexpr (!divisible_output<Out>) {
    return undivisible_output;
  } else if constexpr (!std::is_invocable_v<Op&, std::iter_reference_t<In>...>) {
    return refusal("the operation takes no elements: it must be callable with an element of each sequence");
  } else if constexpr (!std::is_assignable_v<std::iter_reference_t<Out>,
                                             std::invoke_result_t<Op&, std::iter_reference_t<In>...>>) {
    return refusal("the output takes no such results: what the operation returns must be assignable to it");
  } else {
    return not_refused;
  }
}

template <class Range, class Out, class Op>
consteval auto why_not_transform_range() {
  if constexpr (!divisible_range<Range>) {
    return undivisible_range;
  } else {
    return detail::why_not_transform<Out, Op, std::ranges::iterator_t<Range>>();
  }
}

}  // namespace detail

/// *(out + k) = op(*(first + k)) for all elements, possibly in parallel; out may be first. Returns the end of the
/// output, as std::transform. Order, errors and cost are those of parallel_for; what an assignment throws counts as
/// thrown by its element, and the output is then partly written. All iterators must be random-access ones.
template <class First, class Last, class Out, class Op>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op> &&
           detail::accepted<detail::why_not_transform<Out, Op, First>()>
Out parallel_transform(First first, Last last, Out out, Op op, const loop_options& options = {}) {
  return detail::transform(detail::size_between(first, last), op, options, out, first);
}

template <class First, class Last, class Out, class Op,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<Op>>,
          auto Why = detail::why_not_transform<Out, Op, First>()>
  requires(!detail::accepted<Why>)
Out parallel_transform(First first, Last last, Out out, Op op, const loop_options& options = {}) = delete;

/// *(out + k) = op(*(first + k), *(second + k)), likewise.
template <class First, class Last, class Second, class Out, class Op>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::not_options<Op> &&
           detail::accepted<detail::why_not_transform<Out, Op, First, Second>()>
Out parallel_transform(First first, Last last, Second second, Out out, Op op, const loop_options& options = {}) {
  return detail::transform(detail::size_between(first, last), op, options, out, first, second);
}

template <class First, class Last, class Second, class Out, class Op,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::not_options<Op>>,
          auto Why = detail::why_not_transform<Out, Op, First, Second>()>
  requires(!detail::accepted<Why>)
Out parallel_transform(First first, Last last, Second second, Out out, Op op,
                       const loop_options& options = {}) = delete;

/// The same for all elements of a range.
template <std::ranges::range Range, class Out, class Op>
  requires detail::not_options<Op> && detail::accepted<detail::why_not_transform_range<Range, Out, Op>()>
Out parallel_transform(Range&& range, Out out, Op op, const loop_options& options = {}) {
  return detail::transform(detail::size_of(range), op, options, out, std::ranges::begin(range));
}

template <std::ranges::range Range, class Out, class Op, class = detail::when<detail::not_options<Op>>,
          auto Why = detail::why_not_transform_range<Range, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_transform(Range&& range, Out out, Op op, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
