// Scores of the best alignments of all pairs of proteins, after the program `alignment` of the Barcelona OpenMP Tasks
// Suite (Duran, Teruel, Ferrer, Martorell, Ayguade, ICPP 2009): a parallel loop over the proteins, in it one over those
// that follow. A score is by Gotoh's recurrences (An improved algorithm for matching biological sequences, 1982) in
// linear space, the forward pass of Myers and Miller's algorithm (1988). The alignment itself is not made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bench/harness/work.hpp"

namespace bench::alignment {

inline constexpr int residues = 20;
inline constexpr long grain = 1;  // pairs

struct protein {
  std::vector<unsigned char> residues;  // each below bench::alignment::residues
};

/// What a pair of residues, side by side, adds to the score; what a gap of k residues takes from it: open + k * extend.
struct scoring {
  int pair[residues][residues];
  int open, extend;
};

/// The score of the best global alignment. One for all ways, not inlined: inlined into the child of a scope, g++ 12
/// kept a variable of the inner loop in memory there, which made that way 1.6 times slower.
[[gnu::noinline]] inline int score(const protein& a, const protein& b, const scoring& by) {
  const std::size_t columns = b.residues.size();
  // Of the prefix of a so far and each prefix of b: the best score, and the best of those that end in a gap in b.
  std::vector<int> best(columns + 1), gap_in_b(columns + 1);
  for (std::size_t j = 1; j <= columns; ++j) {
    best[j] = -by.open - static_cast<int>(j) * by.extend;
    gap_in_b[j] = best[j] - by.open;
  }
  int border = -by.open;
  for (const unsigned char residue : a.residues) {
    const int* const pair = by.pair[residue];
    int diagonal = best[0];
    border -= by.extend;
    best[0] = border;
    int left = border;
    int gap_in_a = border - by.open;
    for (std::size_t j = 1; j <= columns; ++j) {
      gap_in_a = std::max(gap_in_a, left - by.open) - by.extend;
      const int gap = std::max(gap_in_b[j], best[j] - by.open) - by.extend;
      gap_in_b[j] = gap;
      left = std::max(diagonal + pair[b.residues[j - 1]], std::max(gap_in_a, gap));
      diagonal = best[j];
      best[j] = left;
    }
  }
  return best[columns];
}

/// out has a row for each protein, with a score for each that follows it.
template <class Way>
void align_all(const std::vector<protein>& all, const scoring& by, int* out) {
  const long count = std::ssize(all);
  Way::loop(0, count, grain, [&, count](long first, long last) {
    for (long i = first; i < last; ++i) {
      Way::loop(i + 1, count, grain, [&, i, count](long from, long to) {
        for (long j = from; j < to; ++j) {
          const protein& a = all[static_cast<std::size_t>(i)];
          const protein& b = all[static_cast<std::size_t>(j)];
          out[i * count + j] = score(a, b, by);
          if constexpr (counts_work<Way>) Way::work(unit::alignment_cell, a.residues.size() * b.residues.size());
        }
      });
    }
  });
}

}  // namespace bench::alignment
