// Random victims for thieves: small, fast, one generator per worker.
#pragma once

#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Marsaglia's xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
/// Good enough to spread thieves over victims; not for anything that needs quality.
class random {
 public:
  explicit random(std::uint64_t seed) noexcept { begin(seed); }

  void begin(std::uint64_t seed) noexcept { state_ = seed * 0x9e3779b97f4a7c15u | 1; }

  /// A number below `n`; n must not be 0. Lemire's multiplication in place of a division; biased by n / 2^32.
  std::uint32_t below(std::uint32_t n) noexcept {
    std::uint64_t state = state_;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    state_ = state;
    const auto high = static_cast<std::uint32_t>((state * 0x2545f4914f6cdd1du) >> 32);
    return static_cast<std::uint32_t>((std::uint64_t{high} * n) >> 32);
  }

 private:
  relaxed<std::uint64_t> state_;
};

}}}  // namespace fj::v0_4::detail
