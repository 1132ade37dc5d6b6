// Inputs for sorting and the check of its result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/kernels/common/random.hpp"

namespace bench {

inline int number_to_sort(std::uint64_t index) { return static_cast<int>(random_at(index) >> 33); }

inline void fill_with_numbers_to_sort(std::vector<int>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number_to_sort(i);
}

/// A digest that is the same for the same numbers in any order, and for others by a rare accident only. Never 0.
template <class NumberAt>
std::uint64_t digest_of_numbers(std::uint64_t count, const NumberAt& number_at) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += random_at(static_cast<std::uint64_t>(number_at(i)));
  return sum | 1;
}

inline std::uint64_t digest_of_numbers_to_sort(long count) {
  return digest_of_numbers(static_cast<std::uint64_t>(count), number_to_sort);
}

/// The digest of the numbers, 0 if they are not sorted.
inline std::uint64_t digest_if_sorted(const std::vector<int>& numbers) {
  if (!std::is_sorted(numbers.begin(), numbers.end())) return 0;
  return digest_of_numbers(numbers.size(), [&](std::uint64_t i) { return numbers[i]; });
}

}  // namespace bench
