// The suffix array of a random text of n characters out of four, in which some words come again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/random.hpp"
#include "bench/kernels/suffix_array/algorithm.hpp"

namespace bench::suffix_array {

inline constexpr long small[] = {1, 3000};
inline constexpr long usual[] = {200'000};
inline constexpr long large[] = {10'000'000};

inline constexpr kernel description{
    .name = "suffix_array",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = false,
    .expected = [](long n) -> std::uint64_t {
      if (n < 1 || n > 1'000'000'000) throw std::invalid_argument("suffix_array: the size is from 1 to 1,000,000,000");
      return static_cast<std::uint64_t>(n);  // the number of suffixes that are in order
    },
    .over_loops = true,
};

template <class Way>
class problem {
 public:
  explicit problem(long size)
      : n_(size), text_(places()), sorted_(places()), rank_(places()), fresh_(places()), sums_(places()) {
    for (std::size_t i = 0; i != places(); ++i) {
      const std::uint64_t word = random_at(i / 32);
      text_[i] = word % 8 == 0 && i >= 1000 ? text_[i - 1000] : static_cast<unsigned char>('a' + random_at(i) % 4);
    }
  }

  void run() { build<Way>(text_.data(), n_, sorted_.data(), rank_.data(), fresh_.data(), sums_.data()); }

  // Neighbours are in order by their first characters and, where these agree, by the rest, which are suffixes again.
  std::uint64_t result() const {
    std::uint64_t right = 0;
    std::vector<long> place(places(), -1);
    for (std::size_t i = 0; i != places(); ++i)
      place[static_cast<std::size_t>(sorted_[i].suffix)] = static_cast<long>(i);
    for (std::size_t i = 0; i != places(); ++i) {
      const auto here = static_cast<std::size_t>(sorted_[i].suffix);
      if (place[here] != static_cast<long>(i)) continue;
      if (i == 0) {
        ++right;
        continue;
      }
      const auto before = static_cast<std::size_t>(sorted_[i - 1].suffix);
      const auto rest = [&](std::size_t at) { return at + 1 < places() ? place[at + 1] : -1; };
      right += text_[before] < text_[here] || (text_[before] == text_[here] && rest(before) < rest(here));
    }
    return right;
  }

 private:
  std::size_t places() const { return static_cast<std::size_t>(n_); }

  long n_;
  std::vector<unsigned char> text_;
  std::vector<entry> sorted_;
  std::vector<int> rank_, fresh_, sums_;
};

}  // namespace bench::suffix_array
