// Sorting that keeps the order of equal elements.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include "forkjoin/detail/raw_buffer.hpp"
#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/insertion_sort.hpp"
#include "forkjoin/loops/merge_part.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/sorted.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// Up to how many elements insertion sort is used, and up to how many a sort without a grain does not fork.
inline constexpr std::size_t stable_insertion_limit = 16;
inline constexpr std::size_t stable_sort_grain = elements_a_strand(2048, stable_insertion_limit);

/// Merge sort: quarters in parallel, then pairs of them into the buffer and both pairs back, as in Cilk's cilksort.
/// At the end of each call all elements are in the sequence, also after an exception.
template <class It, class Compare, class Projection>
class merge_sort {
  using T = std::iter_value_t<It>;
  using difference = std::iter_difference_t<It>;
  using pair_ordering = merge_ordering<Compare, Projection, Projection>;
  using merge_in = merge_part<into_buffer, It, It, T*, pair_ordering>;
  using merge_out = merge_part<out_of_buffer, T*, T*, It, pair_ordering>;

 public:
  merge_sort(Compare& comp, Projection& proj, const loop_options& options)
      : less_(comp, proj),
        plan_{pair_ordering{std::addressof(comp), std::addressof(proj), std::addressof(proj)},
              options.grain ? options.grain : merge_grain, options.stop},
        grain_(as_difference<It>(options.grain ? options.grain : stable_sort_grain)) {}

  void operator()(It first, It last) {
    const raw_buffer<T> buffer(static_cast<std::size_t>(last - first));
    sort(first, last - first, buffer.begin());
  }

 private:
  void sort(It first, difference n, T* buffer) {
    if (n <= static_cast<difference>(stable_insertion_limit)) return detail::insertion_sort(first, first + n, less_);
    throw_if_stopped(plan_.stop);
    const It last = first + n, second = first + n / 4, third = first + n / 2, fourth = third + (n - n / 2) / 2;
    T* const half = buffer + (third - first);
    const auto quarter = [=, this](It from, It to) { sort(from, to - from, buffer + (from - first)); };
    if (n > grain_) {
      fork_join([=] { quarter(first, second); }, [=] { quarter(second, third); }, [=] { quarter(third, fourth); },
                [=] { quarter(fourth, last); });
    } else {
      quarter(first, second);
      quarter(second, third);
      quarter(third, fourth);
      quarter(fourth, last);
    }
    merge_out back(plan_, buffer, half, half, buffer + n, first);
    {
      merge_in left(plan_, first, second, second, third, buffer);
      merge_in right(plan_, third, fourth, fourth, last, half);
      n > grain_ ? fj::fork_join(left, right) : (left(), right());
    }
    back();
  }

  const ordering<Compare, Projection> less_;
  const merge_plan<pair_ordering> plan_;
  const difference grain_;
};

/// For elements whose moves may throw: sorts their numbers, and then moves each to its place once.
template <class It, class Compare, class Projection>
void sort_by_number(It first, It last, Compare& comp, Projection& proj, const loop_options& options) {
  using difference = std::iter_difference_t<It>;
  std::vector<difference> from(static_cast<std::size_t>(last - first));
  std::iota(from.begin(), from.end(), difference());
  const auto less = [&, elements = ordering(comp, proj)](difference a, difference b) {
    return elements(first[a], first[b]);
  };
  std::identity as_it_is;
  merge_sort<difference*, decltype(less), std::identity>(less, as_it_is, options)(from.data(),
                                                                                  from.data() + from.size());
  const auto source = [&](difference i) -> difference& { return from[static_cast<std::size_t>(i)]; };
  for (difference start = 0; start != last - first; ++start) {
    if (source(start) == start) continue;
    std::iter_value_t<It> kept = std::ranges::iter_move(first + start);
    difference at = start;
    for (difference next; (next = source(at)) != start; at = next) {
      first[at] = std::ranges::iter_move(first + next);
      source(at) = at;
    }
    first[at] = std::move(kept);
    source(at) = at;
  }
}

}  // namespace detail

/// Sorts by comp(proj(a), proj(b)), by operator< if there is no comp, and keeps the order of equal elements, as
/// std::ranges::stable_sort.
///
/// Several threads may call comp and proj at the same time. Exceptions: the sort waits for all parts that have started,
/// and rethrows the leftmost exception. After an exception from comp or proj no element is lost, and the order is
/// unspecified; if moves of elements can throw, the elements are still in their places. An exception from a move may
/// lose elements; the others are valid. fj::cancelled is thrown if options.stop was asked to stop before all parts had
/// started; then no element is lost either. std::bad_alloc if there is no memory for the buffer; then no element was
/// moved. options.grain: the number of elements that are sorted without a fork; 0 for a few thousand. Outside of a
/// runtime the call enters the default one.
///
/// Elements need no default constructor, and no copies.
///
/// Cost: O(n log n) comparisons and moves, O(n) for sorted and strictly descending sequences; a buffer of n elements,
/// or of 2 n numbers if moves can throw. Span O(log^3 n) beside the grain; with moves that can throw O(n).
template <class It, class S, class Compare = std::less<>, class Projection = std::identity>
  requires std::sentinel_for<S, It> && detail::not_options<Compare> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_sort<It, Compare, Projection>()>
void parallel_stable_sort(It first, S last, Compare comp = {}, Projection proj = {}, const loop_options& options = {}) {
  const It end = detail::end_between(first, last);
  run([&] {
    if (detail::sort_if_run(first, end, detail::ordering(comp, proj), options)) return;
    if constexpr (detail::moves_nothrow<It>) {
      detail::merge_sort<It, Compare, Projection>(comp, proj, options)(first, end);
    } else {
      detail::sort_by_number(first, end, comp, proj, options);
    }
  });
}

template <class It, class S, class Compare>
  requires std::sentinel_for<S, It> && detail::not_options<Compare> &&
           detail::accepted<detail::why_not_sort<It, Compare, std::identity>()>
void parallel_stable_sort(It first, S last, Compare comp, const loop_options& options) {
  fj::parallel_stable_sort(first, last, std::move(comp), std::identity(), options);
}

template <class It, class S>
  requires std::sentinel_for<S, It> && detail::accepted<detail::why_not_sort<It, std::less<>, std::identity>()>
void parallel_stable_sort(It first, S last, const loop_options& options) {
  fj::parallel_stable_sort(first, last, std::less<>(), std::identity(), options);
}

template <class It, class S, class Compare = loop_options, class Projection = loop_options,
          class = detail::when<std::sentinel_for<S, It>>,
          auto Why = detail::why_not_sort_given<It, Compare, Projection>()>
  requires(!detail::accepted<Why>)
void parallel_stable_sort(It first, S last, Compare comp = {}, Projection proj = {},
                          const loop_options& options = {}) = delete;

template <std::ranges::range R, class Compare = std::less<>, class Projection = std::identity>
  requires detail::not_options<Compare> && detail::not_options<Projection> &&
           detail::accepted<detail::why_not_sort<std::ranges::iterator_t<R>, Compare, Projection>()>
void parallel_stable_sort(R&& range, Compare comp = {}, Projection proj = {}, const loop_options& options = {}) {
  fj::parallel_stable_sort(std::ranges::begin(range), std::ranges::end(range), std::move(comp), std::move(proj),
                           options);
}

template <std::ranges::range R, class Compare>
  requires detail::not_options<Compare> &&
           detail::accepted<detail::why_not_sort<std::ranges::iterator_t<R>, Compare, std::identity>()>
void parallel_stable_sort(R&& range, Compare comp, const loop_options& options) {
  fj::parallel_stable_sort(range, std::move(comp), std::identity(), options);
}

template <std::ranges::range R>
  requires detail::accepted<detail::why_not_sort<std::ranges::iterator_t<R>, std::less<>, std::identity>()>
void parallel_stable_sort(R&& range, const loop_options& options) {
  fj::parallel_stable_sort(range, std::less<>(), std::identity(), options);
}

template <std::ranges::range R, class Compare = loop_options, class Projection = loop_options,
          class = detail::when<!detail::array_end<Compare>>,
          auto Why = detail::why_not_sort_given<std::ranges::iterator_t<R>, Compare, Projection>()>
  requires(!detail::accepted<Why>)
void parallel_stable_sort(R&& range, Compare comp = {}, Projection proj = {},
                          const loop_options& options = {}) = delete;

}}  // namespace fj::v0_4
