// Quicksort of n numbers, with a serial partition: work over span is about log n.
#pragma once

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/sort_check.hpp"
#include "bench/kernels/quicksort/algorithm.hpp"

namespace bench::quicksort {

inline constexpr long small[] = {10'000};
inline constexpr long usual[] = {1'000'000};
inline constexpr long large[] = {50'000'000};

inline constexpr kernel description{
    .name = "quicksort",
    .measured = {small, usual, large},
    .cut_off = true,
    .parallel = false,
    .expected = digest_of_numbers_to_sort,
};

template <class Way>
class problem {
 public:
  explicit problem(long size) : numbers_(static_cast<std::size_t>(size)) {}
  void reset() { fill_with_numbers_to_sort(numbers_); }
  void run() { sort<Way>(numbers_.data(), numbers_.data() + numbers_.size()); }
  std::uint64_t result() const { return digest_if_sorted(numbers_); }

 private:
  std::vector<int> numbers_;
};

}  // namespace bench::quicksort
