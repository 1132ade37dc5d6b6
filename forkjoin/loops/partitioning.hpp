// Partitions, serial and in parallel: partition and sort run on them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Swaps two sequences of equal length.
template <class It>
void swap_sequences(It a, It b, std::iter_difference_t<It> n, std::iter_difference_t<It> grain) {
  if (n <= grain) {
    for (std::iter_difference_t<It> i = 0; i != n; ++i) std::ranges::iter_swap(a + i, b + i);
  } else {
    const auto half = n / 2;
    fork_join([=] { detail::swap_sequences(a, b, half, grain); },
              [=] { detail::swap_sequences(a + half, b + half, n - half, grain); });
  }
}

/// The places of the elements of one block that are on the wrong side.
struct misplaced {
  static constexpr std::size_t block = 128;
  std::array<unsigned char, block> offset;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

/// Partitions without branches that depend on the elements: first notes which of a block are on the wrong side, then
/// swaps them. Edelkamp and Weiss, "BlockQuicksort: how branch mispredictions don't affect quicksort", 2016.
template <class It, class Test>
It partition_in_blocks(It first, It last, Test test) {
  using difference = std::iter_difference_t<It>;
  misplaced left, right;
  It left_base = first, right_base = last;  // offsets count from here: up from the first, down from the last
  while (first != last) {
    // Each side gets an equal share of the unknown elements, at most a block. A side with misplaced ones left over gets
    // none.
    const auto unknown = static_cast<std::size_t>(last - first);
    const std::size_t share = left.size() == 0 ? (right.size() == 0 ? unknown - unknown / 2 : unknown) : 0;
    if (share != 0) {
      const std::size_t n = (std::min)(share, misplaced::block);
      left.begin = left.end = 0;
      left_base = first;
      for (std::size_t i = 0; i != n; ++i) {
        left.offset[left.end] = static_cast<unsigned char>(i);
        left.end += !test(*first);
        ++first;
      }
    }
    if (right.size() == 0) {
      const std::size_t n = (std::min)(unknown - share, misplaced::block);
      right.begin = right.end = 0;
      right_base = last;
      for (std::size_t i = 0; i != n; ++i) {
        right.offset[right.end] = static_cast<unsigned char>(i);
        --last;
        right.end += static_cast<bool>(test(*last));
      }
    }
    const std::size_t pairs = (std::min)(left.size(), right.size());
    for (std::size_t i = 0; i != pairs; ++i)
      std::ranges::iter_swap(left_base + static_cast<difference>(left.offset[left.begin + i]),
                             right_base - static_cast<difference>(right.offset[right.begin + i]) - 1);
    left.begin += pairs;
    right.begin += pairs;
  }
  // One side may have misplaced elements left over: they go to the border, the outermost last.
  while (left.size() != 0)
    std::ranges::iter_swap(left_base + static_cast<difference>(left.offset[--left.end]), --first);
  while (right.size() != 0) {
    std::ranges::iter_swap(right_base - static_cast<difference>(right.offset[--right.end]) - 1, first);
    ++first;
  }
  return first;
}

/// Hoare's partition: the fewest swaps, for elements that are expensive to move.
template <class It, class Test>
It partition_in_pairs(It first, It last, Test test) {
  for (;; ++first) {
    for (;; ++first) {
      if (first == last) return first;
      if (!test(*first)) break;
    }
    do {
      if (first == --last) return first;
    } while (!test(*last));
    std::ranges::iter_swap(first, last);
  }
}

/// Tests each element once. After an exception all elements are there, unless a swap lost one.
template <class It, class Test>
It partition_serially(It first, It last, Test test) {
  if constexpr (cheaply_copied<std::iter_value_t<It>>) {
    return detail::partition_in_blocks(first, last, test);
  } else {
    return detail::partition_in_pairs(first, last, test);
  }
}

/// Partitions parts of at most `grain` elements in parallel, and swaps what lies between their borders.
template <class It, class Test>
It partition(It first, It last, Test test, std::iter_difference_t<It> grain, const stop_token* stop) {
  const auto n = last - first;
  if (n <= grain) {
    if (n == 0) return first;
    throw_if_stopped(stop);
    return detail::partition_serially(first, last, test);
  }
  const It middle = first + n / 2;
  const auto [a, b] = fork_join([&, first, middle] { return detail::partition(first, middle, test, grain, stop); },
                                [&, middle, last] { return detail::partition(middle, last, test, grain, stop); });
  const auto shorter = (std::min)(middle - a, b - middle);
  detail::swap_sequences(a, b - shorter, shorter, grain);
  return a + (b - middle);
}

/// Four parts for each P, but not below 8192 elements. With more parts elements would be swapped more often.
inline std::size_t partition_grain(std::size_t n) {
  const std::size_t p = procs_to_cut_for(procs());
  return elements_a_strand(p == 1 ? std::max<std::size_t>(n, 1) : std::max<std::size_t>(n / (4 * p), 8192), 16);
}

/// Why a partition refuses a call.
template <class It, class Predicate, class Projection>
consteval auto why_not_partition() {
  if constexpr (!std::random_access_iterator<It>) {
    return refusal("no random access: the elements need random-access iterators, to begin in several places at once");
  } else if constexpr (!divisible_output<It>) {
    return packed_elements;
  } else if constexpr (!std::permutable<It>) {
    return refusal("the elements cannot be moved: to be swapped they must be movable and not const");
  } else if constexpr (!predicate_for<Predicate, It, Projection>) {
    return unfit_predicate;
  } else {
    return not_refused;
  }
}

}}}  // namespace fj::v0_4::detail
