// The suffix array of a text by prefix doubling: in round k suffixes are sorted by their first 2^k characters, that is
// by the ranks of two halves of these. Manber and Myers, "Suffix arrays: a new method for on-line string searches",
// 1990.
#pragma once

#include <cstdint>

namespace bench::suffix_array {

/// A suffix with the ranks of its two halves, the first in the upper half.
struct entry {
  std::uint64_t key;
  int suffix;
};

/// `rank`, `fresh` and `sums` have room for n numbers. Returns in `sorted` the suffixes in order, and in `rank` their
/// places.
template <class Way>
void build(const unsigned char* text, long n, entry* sorted, int* rank, int* fresh, int* sums) {
  Way::each(n, [=](long i) { rank[i] = text[i] + 1; });
  for (long half = 1;; half *= 2) {
    Way::each(n, [=](long i) {
      const auto second = static_cast<std::uint32_t>(i + half < n ? rank[i + half] : 0);
      sorted[i] = {static_cast<std::uint64_t>(rank[i]) << 32 | second, static_cast<int>(i)};
    });
    Way::sort(sorted, n, [](const entry& a, const entry& b) { return a.key < b.key; });
    Way::each(n, [=](long i) { fresh[i] = i == 0 || sorted[i].key != sorted[i - 1].key; });
    const int different = Way::scan(fresh, n, sums);
    Way::each(n, [=](long i) { rank[sorted[i].suffix] = sums[i] + fresh[i]; });
    if (different == n) return;
  }
}

}  // namespace bench::suffix_array
