// Sequences that are in order already, or in the opposite order: the sorts look for these first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

#include "forkjoin/detail/refusal.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/elements.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/search.hpp"
#include "forkjoin/loops/sequence.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// How many elements are compared without branches in between.
inline constexpr std::size_t sorted_block = 64;

/// Whether any of n > 0 pairs of neighbors from first on is out of order: its second element is less than the first,
/// or, with Descends, is not less. Not inlined: inside a recursion g++ keeps in memory what belongs in registers. One
/// loop for both directions takes longer, too.
template <bool Descends, class It, class Less>
[[gnu::noinline]] bool has_pair_out_of_order(It first, std::size_t n, const Less& less) {
  bool any = false;
  do {
    const It second = first + 1;
    any |= static_cast<bool>(less(*second, *first)) != Descends;
    if constexpr (!cheaply_copied<std::iter_value_t<It>>) {
      if (any) break;
    }
    first = second;
  } while (--n != 0);
  return any;
}

/// Whether [first, last) is one run: each element is less than the one before if the run `descends`, and none is
/// otherwise. Looks at the first few pairs first, which is enough for most sequences.
template <class It, class Less>
bool is_sorted_run(It first, It last, Less less, bool descends, const loop_options& options) {
  using difference = std::iter_difference_t<It>;
  const auto pairs = static_cast<std::size_t>(last - first) - 1;
  const auto out_of_order = [=](std::size_t begin, std::size_t end) {
    const It at = first + static_cast<difference>(begin);
    return descends ? detail::has_pair_out_of_order<true>(at, end - begin, less)
                    : detail::has_pair_out_of_order<false>(at, end - begin, less);
  };
  if (out_of_order(0, std::min<std::size_t>(pairs, 8))) return false;
  const auto blocks = blocks_of(pairs, sorted_block);
  const auto matches = [=](std::size_t block) {
    return out_of_order(block * sorted_block, (std::min)(pairs, (block + 1) * sorted_block));
  };
  const std::size_t grain = blocks_of(options.grain ? options.grain : 64 * sorted_block, sorted_block);
  return find_index(blocks, matches, {.grain = grain, .stop = options.stop}) == blocks;
}

/// Reverses in place.
template <class It>
void reverse(It first, It last, std::iter_difference_t<It> grain) {
  const auto quarter = (last - first) / 4;
  if (quarter < grain) return static_cast<void>(std::ranges::reverse(first, last));
  // The outer quarters, and what is between them.
  fork_join(
      [=] {
        for (std::iter_difference_t<It> i = 0; i != quarter; ++i) std::ranges::iter_swap(first + i, last - 1 - i);
      },
      [=] { detail::reverse(first + quarter, last - quarter, grain); });
}

/// Sorts a sequence that is sorted or strictly descending, stably, and returns true. Otherwise leaves it as it is.
template <class It, class Less>
bool sort_if_run(It first, It last, Less less, const loop_options& options) {
  if (last - first < 2) return true;
  throw_if_stopped(options.stop);
  const bool descends = less(*(first + 1), *first);
  const bool is_one = detail::is_sorted_run(first, last, less, descends, options);
  if (!is_one || !descends) return is_one;
  detail::reverse(first, last, as_difference<It>(options.grain ? options.grain : 16384));
  return true;
}

/// Why a sort refuses a call.
template <class It, class Compare, class Projection>
consteval auto why_not_sort() {
  if constexpr (!std::random_access_iterator<It>) {
    return refusal(
        "no random access: sorts need random-access iterators; a std::list has its own sort, or copy it to a vector");
  } else if constexpr (!divisible_output<It>) {
    return packed_elements;
  } else if constexpr (!std::permutable<It>) {
    return refusal("the elements cannot be moved: to be sorted they must be movable and not const");
  } else if constexpr (!comparator_for<Compare, It, Projection>) {
    return refusal(
        "the comparator does not fit: it must be callable with two (projected) elements and return bool; without one, "
        "the elements need an operator<");
  } else {
    return not_refused;
  }
}

/// The same for a deleted overload, whose parameters may be left out.
template <class It, class Compare, class Projection>
consteval auto why_not_sort_given() {
  return detail::why_not_sort<It, given<Compare, std::less<>>, given<Projection, std::identity>>();
}

}}}  // namespace fj::v0_4::detail
