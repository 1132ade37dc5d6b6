// Merge sort of n numbers with parallel merges.
#pragma once

#include "bench/harness/kernel.hpp"
#include "bench/kernels/cilksort/algorithm.hpp"
#include "bench/kernels/common/sort_check.hpp"

namespace bench::cilksort {

inline constexpr long small[] = {30'000};
inline constexpr long usual[] = {1'000'000};
inline constexpr long large[] = {50'000'000};

inline constexpr kernel description{
    .name = "cilksort",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = true,
    .expected = digest_of_numbers_to_sort,
};

template <class Way>
class problem {
 public:
  explicit problem(long size) : numbers_(static_cast<std::size_t>(size)), spare_(numbers_.size()) {}
  void reset() { fill_with_numbers_to_sort(numbers_); }
  void run() { sort<Way>(numbers_.data(), spare_.data(), std::ssize(numbers_)); }
  std::uint64_t result() const { return digest_if_sorted(numbers_); }

 private:
  std::vector<int> numbers_;
  std::vector<int> spare_;
};

}  // namespace bench::cilksort
