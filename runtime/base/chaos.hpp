// Random choices that replace the scheduler's rules, for options::chaos. They make schedules frequent that the rules
// make rare.
#pragma once

#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"
#include "runtime/base/random.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The choices of one user at a time: a P, or the ready queue. Idea: randomizeScheduler in Go's runtime/proc.go, where
/// a coin decides whether a fiber goes into runnext, and batches are shuffled.
class chaos {
 public:
  chaos() noexcept = default;
  chaos(std::uint64_t seed, std::uint64_t number) noexcept { begin(seed, number); }

  /// Seed 0: no such choices. `number`: of the user; users with one seed make different choices.
  void begin(std::uint64_t seed, std::uint64_t number) noexcept {
    on_ = seed != 0;
    dice_.begin(seed + number * odd);
  }

  /// Whether to do what the rule does not say: with a probability of 1 / n, and never without a seed.
  bool once_in(std::uint32_t n) noexcept { return on_ && dice_.below(n) == 0; }

 private:
  static constexpr std::uint64_t odd = 0xd1342543de82ef95u;  // so that seeds 1, 2, 3 of users 1, 2, 3 do not meet

  relaxed<bool> on_ = false;
  random dice_{1};
};

}}}  // namespace fj::v0_4::detail
