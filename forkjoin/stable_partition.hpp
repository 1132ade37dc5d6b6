// A stable partition: elements that match come first, and both groups keep their order.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

#include "forkjoin/detail/raw_buffer.hpp"
#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/filter.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/partitioning.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/split_loop.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// For elements whose moves may throw: partitions both halves and rotates what lies between. [first, last) are indices
/// of `marks`.
template <class It, class Filter>
std::size_t partition_by_rotations(It begin, const Filter& marks, std::size_t first, std::size_t last,
                                   std::size_t grain) {
  if (last - first == 1) return first + marks.is_marked(first);
  const std::size_t middle = middle_of(first, last);
  std::size_t a = 0, b = 0;
  const auto left = [&, first] { a = detail::partition_by_rotations(begin, marks, first, middle, grain); };
  const auto right = [&, last] { b = detail::partition_by_rotations(begin, marks, middle, last, grain); };
  if (last - first > grain) {
    fork_join(left, right);
  } else {
    left();
    right();
  }
  std::ranges::rotate(detail::advanced(begin, a), detail::advanced(begin, middle), detail::advanced(begin, b));
  return a + (b - middle);
}

/// Moves each element to its place in a buffer, and back. No move throws. It ignores the stop token, because elements
/// in the buffer would be lost.
template <class It, class Filter>
void partition_by_buffer(It first, std::size_t n, const Filter& marks, std::size_t matches) {
  using T = std::iter_value_t<It>;
  const raw_buffer<T> buffer(n);
  T* const to = buffer.begin();
  marks.for_each_block([&](std::size_t begin, std::size_t end, std::size_t marked_before) {
    T* match = to + marked_before;
    T* other = to + matches + (begin - marked_before);
    It from = detail::advanced(first, begin);
    for (; begin != end; ++begin, static_cast<void>(++from))
      into_buffer::put(from, marks.is_marked(begin) ? match++ : other++);
  });
  detail::for_parts(n, {}, [&](std::size_t begin, std::size_t end) {
    It at = detail::advanced(first, begin);
    for (; begin != end; ++begin, static_cast<void>(++at)) out_of_buffer::put(to + begin, at);
  });
}

}  // namespace detail

/// Puts the elements for which pred(proj(element)) holds before the others, keeps the order within either group, and
/// returns where the others begin, as std::stable_partition.
///
/// Several threads may call pred and proj at the same time, once for each element. All these calls come before the
/// first element moves. If one throws, the leftmost exception is rethrown. If options.stop was asked to stop before all
/// of them had started, fj::cancelled is thrown. In both cases, and after std::bad_alloc, all elements are in their old
/// places. If a move of an element throws, elements may be lost; the others are valid, in an unspecified order.
/// options.grain: the number of elements that are processed without a fork, rounded up to a multiple of 64; 0 for some
/// thousand. Outside a runtime the call enters the default one.
///
/// Cost: three passes, a bit and room for a copy of each element; where moves may throw O(n log n) moves and a bit for
/// each. Span O(n / grain); where moves may throw O(n).
template <class It, class S, class Predicate, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_partition<It, Predicate, Projection>()>
It parallel_stable_partition(It first, S last, Predicate pred, Projection proj = {}, const loop_options& options = {}) {
  const std::size_t n = detail::size_between(first, last);
  const auto test = [&](auto&& element) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, std::forward<decltype(element)>(element))));
  };
  if (n == 0) return first;
  const std::size_t grain = options.grain ? options.grain : detail::filter_grain;
  return run([&] {
    detail::filter<It> marks(first, n, grain, options.stop);
    const std::size_t matches = marks.mark(test);
    if constexpr (detail::moves_nothrow<It>) {
      detail::partition_by_buffer(first, n, marks, matches);
    } else {
      detail::partition_by_rotations(first, marks, 0, n, grain);
    }
    return detail::advanced(first, matches);
  });
}

template <class It, class S, class Predicate>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_partition<It, Predicate, std::identity>()>
It parallel_stable_partition(It first, S last, Predicate pred, const loop_options& options) {
  return fj::parallel_stable_partition(first, last, std::move(pred), std::identity(), options);
}

template <class It, class S, class Predicate, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_partition<It, Predicate, detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
It parallel_stable_partition(It first, S last, Predicate pred, Projection proj = {},
                             const loop_options& options = {}) = delete;

template <std::ranges::range R, class Predicate, class Projection = std::identity>
  requires detail::not_options<Projection> &&
           detail::accepted<detail::why_not_partition<std::ranges::iterator_t<R>, Predicate, Projection>()>
std::ranges::borrowed_iterator_t<R> parallel_stable_partition(R&& range, Predicate pred, Projection proj = {},
                                                              const loop_options& options = {}) {
  return fj::parallel_stable_partition(std::ranges::begin(range), std::ranges::end(range), std::move(pred),
                                       std::move(proj), options);
}

template <std::ranges::range R, class Predicate>
  requires detail::accepted<detail::why_not_partition<std::ranges::iterator_t<R>, Predicate, std::identity>()>
std::ranges::borrowed_iterator_t<R> parallel_stable_partition(R&& range, Predicate pred, const loop_options& options) {
  return fj::parallel_stable_partition(std::forward<R>(range), std::move(pred), std::identity(), options);
}

template <std::ranges::range R, class Predicate, class Projection = loop_options,
          class = detail::when<!detail::array_end<Predicate>>,
          auto Why = detail::why_not_partition<std::ranges::iterator_t<R>, Predicate,
                                               detail::given<Projection, std::identity>>()>
  requires(!detail::accepted<Why>)
std::ranges::borrowed_iterator_t<R> parallel_stable_partition(R&& range, Predicate pred, Projection proj = {},
                                                              const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
