// Parallel prefix sums by any associative operation.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/fold.hpp"
#include "forkjoin/loops/loop_bounds.hpp"
#include "forkjoin/loops/number_reduction.hpp"
#include "forkjoin/loops/scan_loop.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 {

/// Whether the results of Op on values T do not depend on the association, to the last bit. If so, a scan computes
/// less. True for integers; to be specialized for other types and operations.
template <class Op, class T>
inline constexpr bool exactly_associative = std::integral<T>;

namespace detail {

/// Blocks of a few numbers would cost more than the numbers.
template <class T>
blocks blocks_to_scan(std::size_t n, std::size_t grain) noexcept {
  if constexpr (plain_number<T>)
    if (grain == 0) return {n, detail::usual_block(n, least_block, scanned_block)};
  return {n, grain};
}

template <scan_kind Kind, class T, class First, class Out, class Op>
Out scan(const First& first, std::size_t n, const Out& out, std::optional<T> init, Op& op,
         const loop_options& options) {
  if (n == 0) return out;
  const blocks all = detail::blocks_to_scan<T>(n, options.grain);
  scan_of_elements<Kind, exactly_associative<Op, T>, T, First, Out, Op> work(first, out, all, op);
  detail::scan_all<T>(work, all, n, init, options);
  return detail::advanced(out, n);
}

/// By a body for blocks. Returns the sum of all. at(k) is the place of element k.
template <class T, class At, class Body, class Join>
T scan_blocks(std::size_t n, const At& at, T identity, Body& body, Join& joins, const loop_options& options) {
  if (n == 0) return identity;
  const blocks all(n, options.grain);
  std::optional<T> before(std::as_const(identity));
  scan_by_body<exactly_associative<Join, T>, T, At, Body, Join> work(at, all, identity, body, joins);
  detail::scan_all<T>(work, all, n, before, options);
  return std::move(*before);
}

template <class T, class First, class Out, class Op>
consteval auto why_not_scan() {
  if constexpr (!std::random_access_iterator<First>) {
    return refusal(
        "no random access: first and last must be random-access iterators; what has only others, as a std::list, can "
        "be copied to a std::vector");
  } else if constexpr (!divisible_output<Out>) {
    return undivisible_output;
  } else if constexpr (!std::copyable<T>) {
    return refusal("the values cannot be copied: they must be copyable, as they go to the output and to the sum");
  } else if constexpr (!foldable<T, Op, scanned<T, First>> ||
                       !std::is_assignable_v<std::iter_reference_t<Out>, const T&> ||
                       !std::is_assignable_v<std::iter_reference_t<Out>, T>) {
    return refusal(
        "the operation does not fit: elements must convert to the type of the sums, the operation must be callable "
        "with two sums, and with one and an element, and give such a sum, and sums must be assignable to the output");
  } else {
    return not_refused;
  }
}

/// In overloads without an initial value, T is void: the sums are then of the type of the elements.
template <class T, class First, class Out, class Op>
consteval auto why_not_scan_of() {
  if constexpr (!std::random_access_iterator<First>) {
    return detail::why_not_scan<int, First, Out, Op>();
  } else {
    return detail::why_not_scan<std::conditional_t<std::is_void_v<T>, std::iter_value_t<First>, T>, First, Out,
                                given<Op, std::plus<>>>();
  }
}

/// A body that folds a block into a value, at the ends that the caller chooses, and knows whether that value is final.
template <class Body, class T, class It>
concept scan_body = std::is_invocable_r_v<T, Body&, It, It, T, bool>;

/// A body of oneTBB's parallel_scan.
template <class Body, class Range, class T>
concept scans_range = std::is_invocable_v<Body&, std::remove_cvref_t<Range>&, T, bool>;

/// The same for a range that is none of the language. What is one is not asked.
template <class Body, class Range, class T>
concept scans_foreign_range = !std::ranges::range<Range> && scans_range<Body, Range, T>;

inline constexpr refusal body_scans_range(
    "the body takes a range, as in oneTBB: pass first, last, and a body(begin, end, value, is_final)");

template <class T, class Range, class Out, class Op>
consteval auto why_not_scan_range() {
  if constexpr (!divisible_range<Range>) {
    return undivisible_range;
  } else if constexpr (scan_body<Op, Out, std::ranges::iterator_t<Range>>) {  // for another overload
    return detail::why_not_scan_of<T, std::ranges::iterator_t<Range>, Out, Op>();
  } else if constexpr (scans_range<Op, Range, Out>) {
    return body_scans_range;
  } else {
    return detail::why_not_scan_of<T, std::ranges::iterator_t<Range>, Out, Op>();
  }
}

/// Whether arguments that are refused are meant for a scan by blocks: an identity and a join, no output.
template <class T, class Join>
concept like_scan_by_blocks = !like_iterator<T> && std::is_invocable_v<Join&, T, T>;

template <class T, class Body, class Join, class It>
consteval auto why_not_scan_blocks() {
  if constexpr (!std::copy_constructible<T> || !std::assignable_from<T&, T>) {
    return refusal(
        "the identity cannot be copied: it must be copyable and assignable, as the sum of a block begins with one");
  } else if constexpr (!scan_body<Body, T, It>) {
    return refusal(
        "the body does not fit: with an identity and a join it must be callable with the two ends of a block, the "
        "value so "
        "far and a bool, and return a value");
  } else if constexpr (!std::is_invocable_r_v<T, Join&, T, T>) {
    return refusal("the join does not fit: it must be callable with two values and return a value");
  } else {
    return not_refused;
  }
}

template <class First, class Last, class T, class Body, class Join>
consteval auto why_not_scan_between() {
  if constexpr (constexpr auto why = detail::why_not_bounds<First, Last>(); !why.is_empty()) {
    return why;
  } else if constexpr (index<First>) {
    return detail::why_not_scan_blocks<T, Body, Join, std::common_type_t<First, Last>>();
  } else {
    return detail::why_not_scan_blocks<T, Body, Join, First>();
  }
}

template <class Range, class T, class Body, class Join>
consteval auto why_not_scan_range_blocks() {
  if constexpr (constexpr auto why = detail::why_not_range<Range>(); !why.is_empty()) {
    return why;
  } else if constexpr (scan_body<Body, T, std::ranges::iterator_t<Range>>) {
    return detail::why_not_scan_blocks<T, Body, Join, std::ranges::iterator_t<Range>>();
  } else if constexpr (scans_range<Body, Range, T>) {
    return body_scans_range;
  } else {
    return detail::why_not_scan_blocks<T, Body, Join, std::ranges::iterator_t<Range>>();
  }
}

}  // namespace detail

/// *(out + k) = *first op ... op *(first + k), possibly in parallel, for an associative op; out may be first. Returns
/// the end of the output, as std::inclusive_scan.
///
/// The association depends on the number of elements and options.grain alone, so floating-point results are the same to
/// the last bit on any number of Ps and with any schedule, if those of parallel_reduce are. They differ from the
/// results of std::inclusive_scan by rounding. On one P the scan reads the sequence once. With more Ps, thieves sum up
/// blocks further right, whose prefix is not known yet; the scan reads these blocks a second time.
///
/// The scan calls op once for each element, and once more for the elements of blocks that thieves summed up before. If
/// the association can change the result (for all types but integers, see exactly_associative), the scan calls op twice
/// for each element, also on one P: no fixed association that can be computed in parallel needs much less (Snir,
/// "Depth-size trade-offs for parallel prefix computation", 1986). For floating-point numbers the scan calls op two and
/// a half times for each element, but takes less time: the second call overlaps the first, and to combine two elements
/// in advance halves the chain of sums.
///
/// Errors: what op or a copy throws; std::bad_alloc; fj::cancelled if options.stop was asked to stop before every block
/// had started. Both leave the output partly written. Iterators must be random-access ones. Outside a runtime the call
/// enters the default one.
template <class First, class Last, class Out, class Op = std::plus<>>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<Op> && detail::accepted<detail::why_not_scan_of<void, First, Out, Op>()>
Out parallel_inclusive_scan(First first, Last last, Out out, Op op = {}, const loop_options& options = {}) {
  using T = std::iter_value_t<First>;
  return detail::scan<detail::scan_kind::inclusive, T>(first, detail::size_between(first, last), out, std::nullopt, op,
                                                       options);
}

template <class First, class Last, class Out>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::accepted<detail::why_not_scan_of<void, First, Out, std::plus<>>()>
Out parallel_inclusive_scan(First first, Last last, Out out, const loop_options& options) {
  return fj::parallel_inclusive_scan(first, last, out, std::plus<>(), options);
}

template <class First, class Last, class Out, class Op = loop_options,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::like_iterator<Out>>,
          auto Why = detail::why_not_scan_of<void, First, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_inclusive_scan(First first, Last last, Out out, Op op = {}, const loop_options& options = {}) = delete;

/// *(out + k) = init op *first op ... op *(first + k). The sums have the type of init. If that is a number, elements of
/// another type are converted to it before they are added.
template <class First, class Last, class Out, class Op, class T>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<T> && detail::accepted<detail::why_not_scan_of<T, First, Out, Op>()>
Out parallel_inclusive_scan(First first, Last last, Out out, Op op, T init, const loop_options& options = {}) {
  return detail::scan<detail::scan_kind::inclusive, T>(first, detail::size_between(first, last), out,
                                                       std::optional<T>(std::move(init)), op, options);
}

template <class First, class Last, class Out, class Op, class T,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::like_iterator<Out> && detail::not_options<T>>,
          auto Why = detail::why_not_scan_of<T, First, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_inclusive_scan(First first, Last last, Out out, Op op, T init, const loop_options& options = {}) = delete;

/// The same for all elements of a range, which must be a random-access one with a size.
template <std::ranges::range Range, class Out, class Op = std::plus<>>
  requires detail::not_options<Op> && detail::accepted<detail::why_not_scan_range<void, Range, Out, Op>()>
Out parallel_inclusive_scan(Range&& range, Out out, Op op = {}, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  const auto last = detail::advanced(first, detail::size_of(range));
  return fj::parallel_inclusive_scan(first, last, std::move(out), std::move(op), options);
}

template <std::ranges::range Range, class Out>
  requires detail::accepted<detail::why_not_scan_range<void, Range, Out, std::plus<>>()>
Out parallel_inclusive_scan(Range&& range, Out out, const loop_options& options) {
  return fj::parallel_inclusive_scan(range, std::move(out), std::plus<>(), options);
}

template <std::ranges::range Range, class Out, class Op = loop_options, class = detail::when<!detail::array_end<Op>>,
          auto Why = detail::why_not_scan_range<void, Range, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_inclusive_scan(Range&& range, Out out, Op op = {}, const loop_options& options = {}) = delete;

template <std::ranges::range Range, class Out, class Op, class T>
  requires detail::not_options<T> && detail::accepted<detail::why_not_scan_range<T, Range, Out, Op>()>
Out parallel_inclusive_scan(Range&& range, Out out, Op op, T init, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  const auto last = detail::advanced(first, detail::size_of(range));
  return fj::parallel_inclusive_scan(first, last, std::move(out), std::move(op), std::move(init), options);
}

template <std::ranges::range Range, class Out, class Op, class T, class = detail::when<detail::not_options<T>>,
          class = detail::when<!detail::array_end<Op>>, auto Why = detail::why_not_scan_range<T, Range, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_inclusive_scan(Range&& range, Out out, Op op, T init, const loop_options& options = {}) = delete;

/// *(out + k) = init op *first op ... op *(first + k - 1): without the element itself. As std::exclusive_scan,
/// otherwise as parallel_inclusive_scan with an initial value.
template <class First, class Last, class Out, class T, class Op = std::plus<>>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<Op> && detail::accepted<detail::why_not_scan_of<T, First, Out, Op>()>
Out parallel_exclusive_scan(First first, Last last, Out out, T init, Op op = {}, const loop_options& options = {}) {
  return detail::scan<detail::scan_kind::exclusive, T>(first, detail::size_between(first, last), out,
                                                       std::optional<T>(std::move(init)), op, options);
}

template <class First, class Last, class Out, class T>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::accepted<detail::why_not_scan_of<T, First, Out, std::plus<>>()>
Out parallel_exclusive_scan(First first, Last last, Out out, T init, const loop_options& options) {
  return fj::parallel_exclusive_scan(first, last, out, std::move(init), std::plus<>(), options);
}

template <class First, class Last, class Out, class T, class Op = loop_options,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::like_iterator<Out>>,
          auto Why = detail::why_not_scan_of<T, First, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_exclusive_scan(First first, Last last, Out out, T init, Op op = {},
                            const loop_options& options = {}) = delete;

/// The same for all elements of a range.
template <std::ranges::range Range, class Out, class T, class Op = std::plus<>>
  requires detail::not_options<Op> && detail::accepted<detail::why_not_scan_range<T, Range, Out, Op>()>
Out parallel_exclusive_scan(Range&& range, Out out, T init, Op op = {}, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  const auto last = detail::advanced(first, detail::size_of(range));
  return fj::parallel_exclusive_scan(first, last, std::move(out), std::move(init), std::move(op), options);
}

template <std::ranges::range Range, class Out, class T>
  requires detail::accepted<detail::why_not_scan_range<T, Range, Out, std::plus<>>()>
Out parallel_exclusive_scan(Range&& range, Out out, T init, const loop_options& options) {
  return fj::parallel_exclusive_scan(range, std::move(out), std::move(init), std::plus<>(), options);
}

template <std::ranges::range Range, class Out, class T, class Op = loop_options,
          class = detail::when<!detail::array_end<T>>, auto Why = detail::why_not_scan_range<T, Range, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_exclusive_scan(Range&& range, Out out, T init, Op op = {}, const loop_options& options = {}) = delete;

/// parallel_inclusive_scan by its short name.
template <class First, class Last, class Out, class Op = std::plus<>>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<Op> && detail::accepted<detail::why_not_scan_of<void, First, Out, Op>()>
Out parallel_scan(First first, Last last, Out out, Op op = {}, const loop_options& options = {}) {
  return fj::parallel_inclusive_scan(first, last, out, std::move(op), options);
}

template <class First, class Last, class Out>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::accepted<detail::why_not_scan_of<void, First, Out, std::plus<>>()>
Out parallel_scan(First first, Last last, Out out, const loop_options& options) {
  return fj::parallel_scan(first, last, out, std::plus<>(), options);
}

template <class First, class Last, class Out, class Op = loop_options,
          class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                               detail::like_iterator<Out>>,
          auto Why = detail::why_not_scan_of<void, First, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_scan(First first, Last last, Out out, Op op = {}, const loop_options& options = {}) = delete;

template <class First, class Last, class Out, class Op, class T>
  requires std::input_or_output_iterator<First> && std::sentinel_for<Last, First> && detail::like_iterator<Out> &&
           detail::not_options<T> && detail::accepted<detail::why_not_scan_of<T, First, Out, Op>()>
Out parallel_scan(First first, Last last, Out out, Op op, T init, const loop_options& options = {}) {
  return fj::parallel_inclusive_scan(first, last, out, std::move(op), std::move(init), options);
}

template <
    class First, class Last, class Out, class Op, class T,
    class = detail::when<std::input_or_output_iterator<First> && std::sentinel_for<Last, First> &&
                         detail::like_iterator<Out> && detail::not_options<T> && !detail::scan_body<Op, Out, First>>,
    auto Why = detail::why_not_scan_of<T, First, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_scan(First first, Last last, Out out, Op op, T init, const loop_options& options = {}) = delete;

template <std::ranges::range Range, class Out, class Op = std::plus<>>
  requires detail::not_options<Op> && detail::accepted<detail::why_not_scan_range<void, Range, Out, Op>()>
Out parallel_scan(Range&& range, Out out, Op op = {}, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  const auto last = detail::advanced(first, detail::size_of(range));
  return fj::parallel_scan(first, last, std::move(out), std::move(op), options);
}

template <std::ranges::range Range, class Out>
  requires detail::accepted<detail::why_not_scan_range<void, Range, Out, std::plus<>>()>
Out parallel_scan(Range&& range, Out out, const loop_options& options) {
  return fj::parallel_scan(range, std::move(out), std::plus<>(), options);
}

template <std::ranges::range Range, class Out, class Op = loop_options, class = detail::when<!detail::array_end<Op>>,
          auto Why = detail::why_not_scan_range<void, Range, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_scan(Range&& range, Out out, Op op = {}, const loop_options& options = {}) = delete;

template <std::ranges::range Range, class Out, class Op, class T>
  requires detail::not_options<T> && detail::accepted<detail::why_not_scan_range<T, Range, Out, Op>()>
Out parallel_scan(Range&& range, Out out, Op op, T init, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  const auto last = detail::advanced(first, detail::size_of(range));
  return fj::parallel_scan(first, last, std::move(out), std::move(op), std::move(init), options);
}

template <std::ranges::range Range, class Out, class Op, class T,
          class = detail::when<detail::not_options<T> && !detail::like_scan_by_blocks<Out, T>>,
          class = detail::when<!detail::array_end<Op> && !detail::scan_body<Op, Out, std::ranges::iterator_t<Range>>>,
          auto Why = detail::why_not_scan_range<T, Range, Out, Op>()>
  requires(!detail::accepted<Why>)
Out parallel_scan(Range&& range, Out out, Op op, T init, const loop_options& options = {}) = delete;

/// The scan by blocks, as the form of oneTBB's parallel_scan for functions. body(begin, end, value, is_final) folds a
/// block into the value so far, and returns the result. If is_final, that value is the sum of all that comes before the
/// block, and the body also writes what the scan is for; each block is final once. If not, the value is a copy of the
/// identity, and nothing must be written: the block may be scanned later. join(value, value) combines. Returns the sum
/// of all.
///
/// [first, last) and the blocks are as those of parallel_for_blocks: body gets the ends as iterators or as indices. The
/// blocks and the association depend on the number of elements and options.grain alone, so the results are the same to
/// the last bit on any number of Ps. Hence a block is summed up before it is final, also on one P, unless
/// exactly_associative<Join, T>. Without a grain there are at most 255 blocks, or blocks of 16,384 elements.
///
/// join(identity, x) must equal x. body and join may move from the values that they get. Errors: what body, join or a
/// copy throws; std::bad_alloc; std::invalid_argument as parallel_for; fj::cancelled if options.stop was asked to stop
/// before every block had started.
template <class First, class Last, class T, class Body, class Join>
  requires detail::accepted<detail::why_not_scan_between<First, Last, T, Body, Join>()>
T parallel_scan(First first, Last last, T identity, Body body, Join join, const loop_options& options = {}) {
  if constexpr (detail::index<First>) {
    const detail::index_range<First, Last> indices("fj::parallel_scan", first, last);
    const auto at = [&indices](std::size_t k) { return indices[k]; };
    return detail::scan_blocks(indices.size(), at, std::move(identity), body, join, options);
  } else {
    const auto at = [&first](std::size_t k) { return detail::advanced(first, k); };
    return detail::scan_blocks(detail::size_between(first, last), at, std::move(identity), body, join, options);
  }
}

template <class First, class Last, class T, class Body, class Join,
          class = detail::when<detail::like_scan_by_blocks<T, Join>>, class = detail::when<!std::ranges::range<First>>,
          auto Why = detail::why_not_scan_between<First, Last, T, Body, Join>()>
  requires(!detail::accepted<Why>)
T parallel_scan(First first, Last last, T identity, Body body, Join join, const loop_options& options = {}) = delete;

/// The same for the elements of a range, which must be a random-access one with a size.
template <std::ranges::range Range, class T, class Body, class Join>
  requires detail::accepted<detail::why_not_scan_range_blocks<Range, T, Body, Join>()>
T parallel_scan(Range&& range, T identity, Body body, Join join, const loop_options& options = {}) {
  const auto first = std::ranges::begin(range);
  return fj::parallel_scan(first, detail::advanced(first, detail::size_of(range)), std::move(identity), std::move(body),
                           std::move(join), options);
}

template <std::ranges::range Range, class T, class Body, class Join,
          class = detail::when<detail::like_scan_by_blocks<T, Join>>,
          auto Why = detail::why_not_scan_range_blocks<Range, T, Body, Join>()>
  requires(!detail::accepted<Why>)
T parallel_scan(Range&& range, T identity, Body body, Join join, const loop_options& options = {}) = delete;

// For oneTBB's ranges, which are none of the language.
template <class Range, class T, class Scan, class Join,
          class = detail::when<detail::scans_foreign_range<Scan, Range, T>>, auto Why = detail::body_scans_range>
T parallel_scan(const Range&, const T&, const Scan&, const Join&) = delete;  // (first, last, identity, body, join)

}}  // namespace fj::v0_4
