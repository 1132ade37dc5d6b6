// Sequences that are in order already, or in the opposite order: what the sorts look at first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "forkjoin/algorithm.hpp"
#include "forkjoin/find.hpp"
#include "forkjoin/fork_join.hpp"

namespace fj::detail {

/// How many elements are compared without branches in between.
inline constexpr std::size_t sorted_block = 64;

/// Whether out_of_order(element, next) holds for no two neighbours. Looks at a few in front first: with most sequences
/// that is all.
template <class Policy, class I, class Pair>
bool is_run(I first, I last, Pair out_of_order, const loop_options& options) {
  using difference = std::iter_difference_t<I>;
  const auto pairs = static_cast<std::size_t>(last - first) - 1;
  const auto broken = [=](std::size_t begin, std::size_t end) {
    I at = first + static_cast<difference>(begin);
    bool any = false;
    for (std::size_t i = begin; i != end; ++i, ++at) {
      any |= out_of_order(*at, *(at + 1));
      if constexpr (!plain<std::iter_value_t<I>>) {
        if (any) break;
      }
    }
    return any;
  };
  if (broken(0, std::min<std::size_t>(pairs, 8))) return false;
  const auto blocks = blocks_of(pairs, sorted_block);
  const auto is_broken = [=](std::size_t block) {
    return broken(block * sorted_block, std::min(pairs, (block + 1) * sorted_block));
  };
  const std::size_t grain = blocks_of(options.grain ? options.grain : 64 * sorted_block, sorted_block);
  return find_index<Policy>(blocks, is_broken, {.grain = grain, .stop = options.stop}) == blocks;
}

/// Reverses in place.
template <class Policy, class I>
void reverse(I first, I last, std::iter_difference_t<I> grain) {
  const auto quarter = (last - first) / 4;
  if (quarter < grain) return static_cast<void>(std::ranges::reverse(first, last));
  // The outer quarters, and what is between them.
  fork_join<Policy>(
      [=] {
        for (std::iter_difference_t<I> i = 0; i != quarter; ++i) std::ranges::iter_swap(first + i, last - 1 - i);
      },
      [=] { detail::reverse<Policy>(first + quarter, last - quarter, grain); });
}

/// Sorts what is sorted or strictly descending and returns true; otherwise leaves it as it is. Stable.
template <class Policy, class I, class Less>
bool sort_run(I first, I last, Less less, const loop_options& options) {
  if (last - first < 2) return true;
  throw_if_stopped(options.stop);
  const bool descends = less(*(first + 1), *first);
  const bool is_one =
      detail::is_run<Policy>(first, last, [=](auto&& a, auto&& b) { return less(b, a) != descends; }, options);
  if (!is_one || !descends) return is_one;
  detail::reverse<Policy>(first, last, as_difference<I>(options.grain ? options.grain : 16384));
  return true;
}

}  // namespace fj::detail
