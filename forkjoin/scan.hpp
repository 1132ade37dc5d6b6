// Parallel prefix sums, of whatever kind.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "forkjoin/blocks.hpp"
#include "forkjoin/fold.hpp"
#include "forkjoin/options.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/scan_loop.hpp"
#include "forkjoin/sequence.hpp"

namespace fj::inline v0_1 {

namespace detail {

template <class Policy, scan_kind Kind, class T, class First, class Last, class Out, class Op>
Out scan(const First& first, const Last& last, const Out& out, std::optional<T> init, Op& op,
         const loop_options& options) {
  static_assert(divisible_sequence<First, Last>,
                "fj::parallel_inclusive_scan, parallel_exclusive_scan: first and last must be random-access iterators");
  static_assert(divisible_output<Out>,
                "fj::parallel_inclusive_scan, parallel_exclusive_scan: the output must be a random-access iterator, "
                "and not that of a std::vector<bool>, whose neighbours cannot be written at the same time");
  if constexpr (divisible_sequence<First, Last> && divisible_output<Out>) {
    static_assert(std::copyable<T>,
                  "fj::parallel_inclusive_scan, parallel_exclusive_scan: the values must be copyable: they go to the "
                  "output and to the sum");
    static_assert(
        folds<T, Op, std::iter_reference_t<First>> && std::is_assignable_v<std::iter_reference_t<Out>, const T&>,
        "fj::parallel_inclusive_scan, parallel_exclusive_scan: elements must convert to the type of the sums, the "
        "operation must be callable with two sums, and with one and an element, and give such a sum, and sums must be "
        "assignable to the output");
    if constexpr (folds<T, Op, std::iter_reference_t<First>>) {
      const std::size_t n = detail::size_between(first, last);
      if (n == 0) return out;
      const blocks all(n, options.grain);
      fj::run([&] { scan_loop<Policy, Kind, T, First, Out, Op>(first, out, all, op, options).run(init); });
      return detail::advanced(out, n);
    }
  }
  return out;
}

}  // namespace detail

/// *(out + k) = *first op ... op *(first + k), possibly in parallel, for an associative op; out may be first. Returns the
/// end of the output, as std::inclusive_scan.
///
/// The association depends on the number of elements and options.grain alone, so floating-point results are the same to
/// the last bit on any number of P and however work was stolen; they differ from std::inclusive_scan's where rounding
/// does. On one P the sequence is gone through once. Others who come to help sum up blocks further right, whose prefix
/// is not known yet, and those are gone through again; but never more than others had time for.
///
/// op is called once an element, and once more in blocks somebody summed up before. Where the association could be seen
/// in the result, that is save for integers (exactly_associative), it is called twice an element on one P, too: no fixed
/// association that can be computed in parallel needs much less (Snir, "Depth-size trade-offs for parallel prefix
/// computation", 1986). For floating-point numbers that is two and a half times, in less time: the second goes on in the
/// shadow of the first, and as two elements are combined ahead, the chain of sums is half as long.
///
/// Errors: what op or copying throw; fj::cancelled if options.stop asked before every block had started. Both leave the
/// output partly written. Iterators are random-access ones. Outside of a runtime it enters the default one.
template <class Policy = continuations, class First, class Last, class Out, class Op = std::plus<>>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<Op>
Out parallel_inclusive_scan(First first, Last last, Out out, Op op = {}, const loop_options& options = {}) {
  using T = std::iter_value_t<First>;
  return detail::scan<Policy, detail::scan_kind::inclusive, T>(first, last, out, std::nullopt, op, options);
}

template <class Policy = continuations, class First, class Last, class Out>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out>
Out parallel_inclusive_scan(First first, Last last, Out out, const loop_options& options) {
  return fj::parallel_inclusive_scan<Policy>(first, last, out, std::plus<>(), options);
}

/// *(out + k) = init op *first op ... op *(first + k). The sums have the type of init.
template <class Policy = continuations, class First, class Last, class Out, class Op, class T>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<T>
Out parallel_inclusive_scan(First first, Last last, Out out, Op op, T init, const loop_options& options = {}) {
  return detail::scan<Policy, detail::scan_kind::inclusive, T>(first, last, out, std::optional<T>(std::move(init)), op,
                                                               options);
}

/// *(out + k) = init op *first op ... op *(first + k - 1): without the element itself. As std::exclusive_scan, otherwise
/// as parallel_inclusive_scan.
template <class Policy = continuations, class First, class Last, class Out, class T, class Op = std::plus<>>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<Op>
Out parallel_exclusive_scan(First first, Last last, Out out, T init, Op op = {}, const loop_options& options = {}) {
  return detail::scan<Policy, detail::scan_kind::exclusive, T>(first, last, out, std::optional<T>(std::move(init)), op,
                                                               options);
}

template <class Policy = continuations, class First, class Last, class Out, class T>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out>
Out parallel_exclusive_scan(First first, Last last, Out out, T init, const loop_options& options) {
  return fj::parallel_exclusive_scan<Policy>(first, last, out, std::move(init), std::plus<>(), options);
}

/// parallel_inclusive_scan for all elements of a range, which must be a random-access one with a size.
template <class Policy = continuations, std::ranges::range Range, class Out, class Op = std::plus<>>
  requires detail::not_options<Op>
Out parallel_inclusive_scan(Range&& range, Out out, Op op = {}, const loop_options& options = {}) {
  static_assert(detail::divisible_range<Range>,
                "fj::parallel_inclusive_scan: the range must have random access and a size");
  if constexpr (detail::divisible_range<Range>) {
    const auto first = std::ranges::begin(range);
    const auto last = detail::advanced(first, static_cast<std::size_t>(std::ranges::size(range)));
    return fj::parallel_inclusive_scan<Policy>(first, last, std::move(out), std::move(op), options);
  }
}

template <class Policy = continuations, std::ranges::range Range, class Out>
Out parallel_inclusive_scan(Range&& range, Out out, const loop_options& options) {
  return fj::parallel_inclusive_scan<Policy>(range, std::move(out), std::plus<>(), options);
}

template <class Policy = continuations, std::ranges::range Range, class Out, class Op, class T>
  requires detail::not_options<T>
Out parallel_inclusive_scan(Range&& range, Out out, Op op, T init, const loop_options& options = {}) {
  static_assert(detail::divisible_range<Range>,
                "fj::parallel_inclusive_scan: the range must have random access and a size");
  if constexpr (detail::divisible_range<Range>) {
    const auto first = std::ranges::begin(range);
    const auto last = detail::advanced(first, static_cast<std::size_t>(std::ranges::size(range)));
    return fj::parallel_inclusive_scan<Policy>(first, last, std::move(out), std::move(op), std::move(init), options);
  }
}

/// parallel_exclusive_scan for all elements of a range, likewise.
template <class Policy = continuations, std::ranges::range Range, class Out, class T, class Op = std::plus<>>
  requires detail::not_options<Op>
Out parallel_exclusive_scan(Range&& range, Out out, T init, Op op = {}, const loop_options& options = {}) {
  static_assert(detail::divisible_range<Range>,
                "fj::parallel_exclusive_scan: the range must have random access and a size");
  if constexpr (detail::divisible_range<Range>) {
    const auto first = std::ranges::begin(range);
    const auto last = detail::advanced(first, static_cast<std::size_t>(std::ranges::size(range)));
    return fj::parallel_exclusive_scan<Policy>(first, last, std::move(out), std::move(init), std::move(op), options);
  }
}

template <class Policy = continuations, std::ranges::range Range, class Out, class T>
Out parallel_exclusive_scan(Range&& range, Out out, T init, const loop_options& options) {
  return fj::parallel_exclusive_scan<Policy>(range, std::move(out), std::move(init), std::plus<>(), options);
}

/// parallel_inclusive_scan by its short name.
template <class Policy = continuations, class First, class Last, class Out, class Op = std::plus<>>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<Op>
Out parallel_scan(First first, Last last, Out out, Op op = {}, const loop_options& options = {}) {
  return fj::parallel_inclusive_scan<Policy>(first, last, out, std::move(op), options);
}

template <class Policy = continuations, class First, class Last, class Out>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out>
Out parallel_scan(First first, Last last, Out out, const loop_options& options) {
  return fj::parallel_inclusive_scan<Policy>(first, last, out, options);
}

template <class Policy = continuations, class First, class Last, class Out, class Op, class T>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<T>
Out parallel_scan(First first, Last last, Out out, Op op, T init, const loop_options& options = {}) {
  return fj::parallel_inclusive_scan<Policy>(first, last, out, std::move(op), std::move(init), options);
}

template <class Policy = continuations, std::ranges::range Range, class Out, class Op = std::plus<>>
  requires detail::not_options<Op>
Out parallel_scan(Range&& range, Out out, Op op = {}, const loop_options& options = {}) {
  return fj::parallel_inclusive_scan<Policy>(std::forward<Range>(range), std::move(out), std::move(op), options);
}

template <class Policy = continuations, std::ranges::range Range, class Out>
Out parallel_scan(Range&& range, Out out, const loop_options& options) {
  return fj::parallel_inclusive_scan<Policy>(range, std::move(out), options);
}

template <class Policy = continuations, std::ranges::range Range, class Out, class Op, class T>
  requires detail::not_options<T>
Out parallel_scan(Range&& range, Out out, Op op, T init, const loop_options& options = {}) {
  return fj::parallel_inclusive_scan<Policy>(range, std::move(out), std::move(op), std::move(init), options);
}

}  // namespace fj::inline v0_1
