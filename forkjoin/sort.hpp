// Sorting in place.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <ranges>
#include <utility>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/insertion_sort.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/partitioning.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/sorted.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// Up to how many elements insertion sort is used, and from how many on a sort without a grain forks.
inline constexpr std::size_t insertion_limit = 24;
inline constexpr std::size_t sort_grain = elements_a_strand(2048, insertion_limit);

/// Heap sort, for sequences whose partitions were bad too often. It swaps, so that a comparator that throws loses no
/// element.
template <class It, class Less>
void heap_sort(It first, It last, Less less) {
  using difference = std::iter_difference_t<It>;
  const auto sift_down = [&](difference at, difference n) {
    for (difference child; at < n / 2; at = child) {  // so that the child's number is below n, and fits
      child = at;
      child += at + 1;
      if (child + 1 < n && less(first[child], first[child + 1])) ++child;
      if (!less(first[at], first[child])) return;
      std::ranges::iter_swap(first + at, first + child);
    }
  };
  const difference n = last - first;
  for (difference i = n / 2; i-- > 0;) sift_down(i, n);
  for (difference i = n; i-- > 1;) {
    std::ranges::iter_swap(first, first + i);
    sift_down(0, i);
  }
}

/// The place with the median of three.
template <class It, class Less>
It median(It a, It b, It c, Less& less) {
  if (less(*b, *a)) std::swap(a, b);
  if (!less(*c, *b)) return b;
  return less(*c, *a) ? a : c;
}

/// A place whose element is likely near the median: of 3^levels places, evenly spread, the median of medians.
template <class It, class Less>
It pseudomedian(It first, std::iter_difference_t<It> n, int levels, Less& less) {
  if (levels == 0) return first + n / 2;
  const auto third = n / 3;
  return detail::median(detail::pseudomedian(first, third, levels - 1, less),
                        detail::pseudomedian(first + third, third, levels - 1, less),
                        detail::pseudomedian(first + 2 * third, n - 2 * third, levels - 1, less), less);
}

/// Peters, "Pattern-defeating quicksort", 2021, with both parts of a partition sorted in parallel. A partition is
/// itself parallel if it is large and a worker is hungry.
template <class It, class Less>
class quicksort {
  using difference = std::iter_difference_t<It>;
  using T = std::iter_value_t<It>;
  using element = std::iter_reference_t<It>;

 public:
  quicksort(Less less, difference grain, const stop_token* stop) : less_(less), grain_(grain), stop_(stop) {}

  void operator()(It first, It last) {
    const auto n = static_cast<std::size_t>(last - first);
    // Not std::bit_width, whose type is int or n's, by the version of the standard library: a cast would be useless or
    // missing.
    sort(first, last, std::numeric_limits<std::size_t>::digits - std::countl_zero(n), true);
  }

 private:
  // `bad_allowed`: how many more bad partitions may come before heap sort. Unless `leftmost`, the element before
  // first is in its place.
  void sort(It first, It last, int bad_allowed, bool leftmost) {
    for (;;) {
      const difference n = last - first;
      if (n <= static_cast<difference>(insertion_limit)) return detail::insertion_sort(first, last, less_);
      throw_if_stopped(stop_);
      if (bad_allowed == 0) return detail::heap_sort(first, last, less_);
      std::ranges::iter_swap(first, detail::pseudomedian(first, n, n > 4096 ? 3 : n > 128 ? 2 : 1, less_));

      // No element is less than the one before first. If the pivot equals that one, all elements equal to it are in
      // place.
      if (!leftmost && !less_(*(first - 1), *first)) {
        first =
            partition_by_pivot(first, last, [](const auto& less, auto&& x, auto&& pivot) { return !less(pivot, x); });
        continue;
      }

      const It middle =
          partition_by_pivot(first, last, [](const auto& less, auto&& x, auto&& pivot) { return less(x, pivot); });
      const It pivot = middle - 1;
      std::ranges::iter_swap(first, pivot);
      if ((std::min)(pivot - first, last - middle) < n / 8) {
        --bad_allowed;
        break_pattern(first, pivot);
        break_pattern(middle, last);
      }
      if (n > grain_) {
        fork_join([=, this] { sort(first, pivot, bad_allowed, leftmost); },
                  [=, this] { sort(middle, last, bad_allowed, false); });
        return;
      }
      sort(first, pivot, bad_allowed, leftmost);
      first = middle;
      leftmost = false;
    }
  }

  // Comparators and projections need not take constants: a generic one is not even asked whether it does.
  static constexpr bool copies_pivot = cheaply_copied<T> && std::copy_constructible<T> &&
                                       std::invocable<const Less&, T&, element&> &&
                                       std::invocable<const Less&, element&, T&>;

  // Partitions all but the first, which is the pivot. Returns the end of those for which the test holds.
  template <class Test>
  It partition_by_pivot(It first, It last, Test test) {
    if constexpr (copies_pivot) {
      T pivot = *first;  // a copy, which stores to the sequence cannot change
      return partition_by(first + 1, last, [&, less = less_](auto&& x) { return test(less, x, pivot); });
    } else {
      return partition_by(first + 1, last, [&, first](auto&& x) { return test(less_, x, *first); });
    }
  }

  template <class Test>
  It partition_by(It first, It last, Test test) {
    const difference n = last - first;
    if (n / 64 < grain_ || !hungry()) return detail::partition_serially(first, last, test);
    const std::size_t of_each = static_cast<std::size_t>(n) / (2 * detail::procs_to_cut_for(procs()));
    const auto part = (std::max)(static_cast<difference>(of_each), static_cast<difference>(8 * grain_));
    return detail::partition(first, last, test, part, stop_);
  }

  // Swaps some elements, to break the pattern that gave a bad pivot.
  static void break_pattern(It first, It last) {
    const difference n = last - first;
    if (n <= static_cast<difference>(insertion_limit)) return;
    for (difference i = 0; i != 3; ++i) {
      std::ranges::iter_swap(first + i, first + n / 4 + i);
      std::ranges::iter_swap(last - 1 - i, last - 1 - n / 4 - i);
      std::ranges::iter_swap(first + n / 2 + i, first + n / 3 + i);
    }
  }

  Less less_;
  const difference grain_;
  const stop_token* const stop_;
};

}  // namespace detail

/// Sorts in place by comp(proj(a), proj(b)), as std::ranges::sort, by operator< if there is no comp. The order of
/// elements with equal keys is unspecified, and may differ from call to call.
///
/// Several threads may call comp and proj at the same time. Exceptions: sort waits for all parts that have started, and
/// rethrows the leftmost exception. The elements are then in an unspecified order; none is lost unless a move threw.
/// The same holds for fj::cancelled, which sort throws if options.stop was asked to stop before all parts had started.
/// options.grain: the number of elements that are sorted without a fork; 0 for a few thousand. Outside a runtime the
/// call enters the default one.
///
/// Cost: O(n log n) comparisons, O(n) for sorted, reversed and all-equal sequences, O(n log k) expected for k different
/// elements. No memory but the stack. Span O(n): if other workers have nothing to do, a large partition is divided,
/// into two parts for each P at most.
template <class It, class S, class Compare = std::less<>, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Compare> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_sort<It, Compare, Projection>()>
void parallel_sort(It first, S last, Compare comp = {}, Projection proj = {}, const loop_options& options = {}) {
  const It end = detail::end_between(first, last);
  const detail::ordering less(comp, proj);
  const auto grain = detail::as_difference<It>(options.grain ? options.grain : detail::sort_grain);
  run([&] {
    if (detail::sort_if_run(first, end, less, options)) return;
    detail::quicksort<It, detail::ordering<Compare, Projection>>(less, grain, options.stop)(first, end);
  });
}

template <class It, class S, class Compare>
  requires std::sentinel_for<S, It> && detail::not_options<Compare> &&
           detail::accepted<detail::why_not_sort<It, Compare, std::identity>()>
void parallel_sort(It first, S last, Compare comp, const loop_options& options) {
  fj::parallel_sort(first, last, std::move(comp), std::identity(), options);
}

template <class It, class S>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_sort<It, std::less<>, std::identity>()>
void parallel_sort(It first, S last, const loop_options& options) {
  fj::parallel_sort(first, last, std::less<>(), std::identity(), options);
}

template <class It, class S, class Compare = loop_options, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_sort_given<It, Compare, Projection>()>
  requires(!detail::accepted<Why>)
void parallel_sort(It first, S last, Compare comp = {}, Projection proj = {},
                   const loop_options& options = {}) = delete;

template <std::ranges::range R, class Compare = std::less<>, class Projection = std::identity>
  requires detail::not_options<Compare> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_sort<std::ranges::iterator_t<R>, Compare, Projection>()>
void parallel_sort(R&& range, Compare comp = {}, Projection proj = {}, const loop_options& options = {}) {
  fj::parallel_sort(std::ranges::begin(range), std::ranges::end(range), std::move(comp), std::move(proj), options);
}

template <std::ranges::range R, class Compare>
  requires detail::not_options<Compare> &&
           detail::accepted<detail::why_not_sort<std::ranges::iterator_t<R>, Compare, std::identity>()>
void parallel_sort(R&& range, Compare comp, const loop_options& options) {
  fj::parallel_sort(range, std::move(comp), std::identity(), options);
}

template <std::ranges::range R>
  requires detail::accepted<detail::why_not_sort<std::ranges::iterator_t<R>, std::less<>, std::identity>()>
void parallel_sort(R&& range, const loop_options& options) {
  fj::parallel_sort(range, std::less<>(), std::identity(), options);
}

template <std::ranges::range R, class Compare = loop_options, class Projection = loop_options,
          class = detail::when<!detail::array_end<Compare>>,
          auto Why = detail::why_not_sort_given<std::ranges::iterator_t<R>, Compare, Projection>()>
  requires(!detail::accepted<Why>)
void parallel_sort(R&& range, Compare comp = {}, Projection proj = {}, const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
