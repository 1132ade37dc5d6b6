// Quicksort with Hoare's partition around the median of three, and insertion sort for short runs (Sedgewick,
// Implementing quicksort programs, 1978). The partition is serial; the two sides are sorted in parallel.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "bench/harness/work.hpp"

namespace bench::quicksort {

inline constexpr std::ptrdiff_t leaf_size = 32;

inline void insertion_sort(int* first, int* last) {
  if (first == last) return;
  for (int* at = first + 1; at < last; ++at) {
    const int moving = *at;
    int* hole = at;
    for (; hole > first && moving < hole[-1]; --hole) *hole = hole[-1];
    *hole = moving;
  }
}

inline int median_of_three(int a, int b, int c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

/// Rearranges so that nothing in [first, result) is greater than anything in [result, last). Neither side is empty: of
/// the three samples two are no greater than the pivot and two no less, so the first round ends in a swap.
inline int* partition(int* first, int* last) {
  const int pivot = median_of_three(*first, first[(last - first) / 2], last[-1]);
  int* left = first;
  int* right = last - 1;
  while (true) {
    while (*left < pivot) ++left;
    while (pivot < *right) --right;
    if (left >= right) return left;
    std::swap(*left++, *right--);
  }
}

template <class Way>
void sort(int* first, int* last) {
  if (last - first <= leaf_size) {
    if constexpr (counts_work<Way>) Way::work(unit::sort_compare, (last - first) * std::log2(last - first));
    return insertion_sort(first, last);
  }
  if constexpr (counts_work<Way>) Way::work(unit::sort_partition, last - first);
  int* const middle = partition(first, last);
  Way::fork([=] { sort<Way>(first, middle); }, [=] { sort<Way>(middle, last); });
}

}  // namespace bench::quicksort
