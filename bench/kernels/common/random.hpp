// Pseudo-random inputs without state: the number at an index is a function of the index, so a program can make the
// inputs again and needs no copy.
#pragma once

#include <cstdint>

namespace bench {

/// The n-th output of SplitMix64 with seed 0 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014).
constexpr std::uint64_t random_at(std::uint64_t n) {
  std::uint64_t z = (n + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
static_assert(random_at(0) == 0xe220a8397b1dcdaf);

/// The same, uniform in [0, 1).
constexpr double uniform_at(std::uint64_t n) { return static_cast<double>(random_at(n) >> 11) * 0x1p-53; }

}  // namespace bench
