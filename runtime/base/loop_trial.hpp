// Whether a strand shares its loops with others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tuning.hpp"

namespace fj::inline v0_1::detail {

/// Of one strand. Loops that follow each other work on the same data. So the strand runs them all alone, or shares all that are
/// worth it: if it shares some, the others find their data in two caches. Which of both is quicker depends on how far the
/// processors are apart, and on what the loops do. So the strand tries: some loops alone, then some shared. The quicker way holds
/// for so many loops that the trial takes a small part of the time. Loops that are long enough are shared in any case.
/// Explore, then commit: Perchet, Rigollet, Chassang, Snowberg, "Batched bandit problems", 2016. All are hints.
class loop_trial {
 public:
  /// By which the strand decides on its next loop.
  constexpr const tuning::sharing& terms() const noexcept {
    return shares() ? tuning::shared_loops : tuning::lone_loops;
  }

  constexpr bool shares() const noexcept { return phase_ == phase::tries || phase_ == phase::keeps_sharing; }

  /// After a loop that no thief took over. It took so long from its begin to its join.
  constexpr void note(std::uint64_t took_ns) noexcept {
    if (left_ <= tuning::loops_that_count) {
      took_ns_ += took_ns;
      // The system may have taken the processor away for milliseconds, which must not decide which way is quicker.
      const auto counted_ns = static_cast<std::uint32_t>(std::min(took_ns, tuning::lone_loops.worth_ns));
      counted_ns_ += counted_ns;
      if (took_ns >= tuning::worth_trying_ns) worth_trying_ns_ += counted_ns;
    }
    if (--left_ == 0) conclude();
  }

 private:
  enum class phase : unsigned char { measures, tries, keeps_sharing, stays_alone };

  constexpr void begin(phase next, std::uint32_t loops) noexcept {
    phase_ = next;
    left_ = loops;
    took_ns_ = counted_ns_ = worth_trying_ns_ = 0;
  }

  [[gnu::cold, gnu::noinline]] constexpr void conclude() noexcept {
    switch (phase_) {
      case phase::measures:
        alone_took_ns_ = took_ns_;
        alone_ns_ = counted_ns_;
        return begin(2 * worth_trying_ns_ > counted_ns_ ? phase::tries : phase::measures, tuning::loops_of_trial);
      case phase::tries:
        if (counted_ns_ < alone_ns_ - alone_ns_ / tuning::least_gain)
          return begin(phase::keeps_sharing, holds_for(counted_ns_, alone_ns_));
        return begin(phase::stays_alone, holds_for(alone_took_ns_, took_ns_));
      case phase::keeps_sharing:
      case phase::stays_alone:
        return begin(phase::measures, tuning::loops_of_trial);
    }
  }

  // For so many loops that what the slower half of the trial lost is one part in trial_share of their time, within bounds.
  static constexpr std::uint32_t holds_for(std::uint64_t quicker_ns, std::uint64_t slower_ns) noexcept {
    const std::uint64_t lost_ns = slower_ns > quicker_ns ? slower_ns - quicker_ns : 0;
    const std::uint64_t loops =
        tuning::loops_of_trial * tuning::trial_share * lost_ns / std::max<std::uint64_t>(quicker_ns, 1);
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(loops, tuning::loops_of_trial, tuning::most_loops_held));
  }

  std::uint64_t took_ns_ = 0;                    // of the loops that count in this phase
  std::uint64_t alone_took_ns_ = 0;              // what it was at the end of `measures`
  std::uint32_t counted_ns_ = 0;                 // as took_ns_, without interruptions
  std::uint32_t worth_trying_ns_ = 0;            // of that, loops so long that sharing may be worth it
  std::uint32_t alone_ns_ = 0;                   // what counted_ns_ was at the end of `measures`
  std::uint32_t left_ = tuning::loops_of_trial;  // loops until the phase ends
  phase phase_ = phase::measures;
};

}  // namespace fj::inline v0_1::detail
