// The scores of the best alignments of all pairs of n proteins, of 100 to 300 residues each.
#pragma once

#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/alignment/algorithm.hpp"
#include "bench/kernels/common/random.hpp"

namespace bench::alignment {

inline constexpr long small[] = {8};
inline constexpr long usual[] = {40};
inline constexpr long large[] = {100};

/// The sums of (score + 10'000) * (pair % 1009 + 1) over the pairs, in order, computed by another program.
inline std::uint64_t expected(long n) {
  switch (n) {
    case small[0]:
      return 4'181'554;
    case usual[0]:
      return 3'086'845'749;
    case large[0]:
      return 24'744'980'305;
  }
  throw std::invalid_argument("alignment: the size is 8, 40 or 100");
}

inline constexpr kernel description{
    .name = "alignment",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = expected,
};

/// Families of five proteins: each of the later four is the first one with every fourth residue, on average, replaced
/// or left out.
inline std::vector<protein> proteins(long count) {
  std::vector<protein> all;
  for (long i = 0; i < count; ++i) {
    const auto seed = static_cast<std::uint64_t>(i) << 32;
    protein made;
    if (i % 5 == 0) {
      const std::size_t length = 100 + random_at(seed) % 201;
      for (std::size_t at = 1; at <= length; ++at) {
        made.residues.push_back(static_cast<unsigned char>(random_at(seed + at) % residues));
      }
    } else {
      const protein& first = all[static_cast<std::size_t>(i - i % 5)];
      for (std::size_t at = 0; at < first.residues.size(); ++at) {
        const std::uint64_t dice = random_at(seed + at);
        if (dice % 8 == 0) continue;
        made.residues.push_back(dice % 8 == 1 ? static_cast<unsigned char>((dice >> 32) % residues)
                                              : first.residues[at]);
      }
    }
    all.push_back(std::move(made));
  }
  return all;
}

/// Of the kind of the BLOSUM62 table: 4 to 11 for equal residues, -4 to 1 for others.
inline scoring usual_scoring() {
  scoring by{.pair = {}, .open = 10, .extend = 1};
  for (std::uint64_t a = 0; a < residues; ++a) {
    by.pair[a][a] = 4 + static_cast<int>(random_at(a) % 8);
    for (std::uint64_t b = 0; b < a; ++b) {
      by.pair[a][b] = by.pair[b][a] = static_cast<int>(random_at(1000 + a * residues + b) % 6) - 4;
    }
  }
  return by;
}

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : proteins_(proteins(size)), scoring_(usual_scoring()), scores_(proteins_.size() * proteins_.size()) {}
  void reset() { std::fill(scores_.begin(), scores_.end(), 0); }
  void run() { align_all<Way>(proteins_, scoring_, scores_.data()); }
  std::uint64_t result() const {
    std::uint64_t sum = 0;
    std::uint64_t pair = 0;
    for (std::size_t i = 0; i < proteins_.size(); ++i) {
      for (std::size_t j = i + 1; j < proteins_.size(); ++j, ++pair) {
        sum += static_cast<std::uint64_t>(scores_[i * proteins_.size() + j] + 10'000) * (pair % 1009 + 1);
      }
    }
    return sum;
  }

 private:
  std::vector<protein> proteins_;
  scoring scoring_;
  std::vector<int> scores_;
};

}  // namespace bench::alignment
