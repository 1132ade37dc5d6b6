// Merge sort by quarters with parallel merges, after Cilk-5's cilksort (Akl and Santoro's merge, 1987): the larger run
// is split in the middle, the other where that element belongs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "bench/harness/work.hpp"

namespace bench::cilksort {

inline constexpr std::ptrdiff_t leaf_size = 2048;  // sorted, and merged, serially

/// Merges [a, a_end) and [b, b_end), both sorted, to out.
template <class Way>
void merge(const int* a, const int* a_end, const int* b, const int* b_end, int* out) {
  if (a_end - a < b_end - b) {
    std::swap(a, b);
    std::swap(a_end, b_end);
  }
  if ((a_end - a) + (b_end - b) <= leaf_size) {
    if constexpr (counts_work<Way>) Way::work(unit::sort_merge, (a_end - a) + (b_end - b));
    std::merge(a, a_end, b, b_end, out);
    return;
  }
  if constexpr (counts_work<Way>) Way::work(unit::sort_compare, std::log2(b_end - b + 1));
  const int* const a_middle = a + (a_end - a) / 2;
  const int* const b_middle = std::lower_bound(b, b_end, *a_middle);
  int* const out_middle = out + (a_middle - a) + (b_middle - b);
  Way::fork([=] { merge<Way>(a, a_middle, b, b_middle, out); },
            [=] { merge<Way>(a_middle, a_end, b_middle, b_end, out_middle); });
}

/// Sorts [data, data + n). spare has room for as many elements.
template <class Way>
void sort(int* data, int* spare, std::ptrdiff_t n) {
  if (n <= leaf_size) {
    if constexpr (counts_work<Way>) Way::work(unit::sort_compare, n * std::log2(n));
    return std::sort(data, data + n);
  }
  const std::ptrdiff_t quarter = n / 4;
  int* const b = data + quarter;
  int* const c = b + quarter;
  int* const d = c + quarter;
  int* const end = data + n;
  int* const spare_middle = spare + 2 * quarter;
  Way::fork([=] { sort<Way>(data, spare, quarter); }, [=] { sort<Way>(b, spare + quarter, quarter); },
            [=] { sort<Way>(c, spare_middle, quarter); }, [=] { sort<Way>(d, spare_middle + quarter, end - d); });
  Way::fork([=] { merge<Way>(data, b, b, c, spare); }, [=] { merge<Way>(c, d, d, end, spare_middle); });
  merge<Way>(spare, spare_middle, spare_middle, spare + n, data);
}

}  // namespace bench::cilksort
