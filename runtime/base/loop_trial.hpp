// Whether a strand shares its loops with others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tuning.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Of one strand. Loops that follow each other work on the same data. If the strand shares some of them, the others find their data
/// in two caches, and take longer, so that they seem to be worth sharing, too. Whether sharing is quicker depends on how far the
/// processors are apart, and on what the loops do. So the strand tries three ways, one after the other: to share long loops only,
/// to share none, to share all that are worth it. It keeps the quickest for so many loops that what the others lost is a small part of
/// the time. Explore, then commit: Perchet, Rigollet, Chassang, Snowberg, "Batched bandit problems", 2016. All are hints.
class loop_trial {
 public:
  /// By which the strand decides on its next loop.
  constexpr const tuning::sharing& terms() const noexcept {
    switch (way_) {
      case way::long_ones:
        return tuning::long_loops;
      case way::none:
        return settling_ == 0 ? tuning::no_loops : tuning::first_alone;
      case way::all:
        break;
    }
    return tuning::all_loops;
  }

  constexpr bool shares() const noexcept { return way_ == way::all; }

  /// After a loop that no thief took over. It took so long from its begin to its join. Was_shared: by its terms.
  constexpr void note(std::uint64_t took_ns, bool was_shared) noexcept {
    settling_ = was_shared ? first_ones : settling_ - (settling_ != 0);
    if (keeps_) {
      if (way_ == way::none) note_longer(took_ns);
      if (--left_ == 0) begin_trial();
    } else {
      count(took_ns);
      any_shared_ |= was_shared;
      if (--left_ == 0 || bounded_ns_ > enough_ns_) conclude();
    }
  }

 private:
  // Which loops are shared. A trial begins with the first way.
  enum class way : unsigned char { long_ones, none, all };

  // The system may take the processor away for milliseconds, which must not decide which way is quicker. So what a loop counts with
  // is bounded, by twice the second longest of the first loops of the trial, or by long_ns if that is more.
  constexpr void count(std::uint64_t took_ns) noexcept {
    const auto ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(took_ns, no_more_ns));
    took_ns_ += took_ns;
    bounded_ns_ += ns;
    const bool counts = left_ <= tuning::loops_that_count;
    if (counts) counted_ns_ += (std::min)(ns, (std::max)(2 * first_.second_ns, long_ns));
    if (way_ == way::long_ones) {
      if (!counts) return first_.note(ns);
      tried_ns_ += (std::min)(ns, long_ns);
      if (ns >= tuning::worth_trying_ns) worth_trying_ns_ += (std::min)(ns, long_ns);
    }
    if (way_ != way::all && counts) alone_.note(ns);
  }

  // While the strand shares none, its loops may become worth sharing.
  constexpr void note_longer(std::uint64_t took_ns) noexcept {
    if (took_ns <= longer_ns_) {
      longer_ -= longer_ != 0;
    } else if ((longer_ += tuning::loops_per_longer) > tuning::longer_loops * tuning::loops_per_longer) {
      left_ = 1;
    }
  }

  constexpr void begin(way next) noexcept {
    way_ = next;
    left_ = tuning::loops_of_trial;
    settling_ = first_ones;
    if (next == way::none && !keeps_) alone_ = {};
    took_ns_ = 0;
    bounded_ns_ = counted_ns_ = 0;
    any_shared_ = false;
  }

  constexpr void begin_trial() noexcept {
    keeps_ = false;
    trial_ns_ = 0;
    loops_ = tried_ns_ = worth_trying_ns_ = 0;
    first_ = alone_ = {};
    enough_ns_ = unlimited;
    begin(way::long_ones);
  }

  [[gnu::cold, gnu::noinline]] constexpr void conclude() noexcept {
    trial_ns_ += took_ns_;
    loops_ += tuning::loops_of_trial - left_;
    switch (way_) {
      case way::long_ones:
        if (2 * worth_trying_ns_ <= tried_ns_) return begin_trial();
        note_best();
        if (!any_shared_) best_ = way::none;  // both were the same
        none_is_last_ = any_shared_ && counted_ns_ > tuning::loops_that_count * tuning::may_be_short_ns;
        return begin(any_shared_ && !none_is_last_ ? way::none : way::all);
      case way::none:
        return conclude_none();
      case way::all:
        if (left_ == 0 && gains(counted_ns_, best_counted_ns_)) note_best();
        if (!none_is_last_ || without_none_ < tuning::loops_without_none) return keep_best();
        enough_ns_ /= 2;  // to be kept it has to gain
        return begin(way::none);
    }
  }

  // To share none is the second way, and is kept unless sharing gains. For long loops it is seldom the best. So few trials try it there,
  // as the last way. If it gains it is kept, and the next trial tries it, too.
  constexpr void conclude_none() noexcept {
    const bool is_best = none_is_last_ ? gains(counted_ns_, best_counted_ns_) : !gains(best_counted_ns_, counted_ns_);
    if (left_ == 0 && is_best) {
      note_best();
    } else {
      without_none_ = 0;
    }
    return none_is_last_ ? keep_best() : begin(way::all);
  }

  // Whether one way is so much quicker than another.
  static constexpr bool gains(std::uint32_t one_ns, std::uint32_t other_ns) noexcept {
    return one_ns < other_ns - other_ns / tuning::least_gain;
  }

  constexpr void note_best() noexcept {
    best_ = way_;
    best_took_ns_ = took_ns_;
    best_counted_ns_ = counted_ns_;
    enough_ns_ = 2 * bounded_ns_;
  }

  // For so many loops that what the slower ways lost in the trial is one part in trial_share of their time, within bounds.
  constexpr void keep_best() noexcept {
    const std::uint64_t best_ns = std::max<std::uint64_t>(best_took_ns_ / tuning::loops_of_trial, 1);  // of a loop
    const std::uint64_t lost_ns = trial_ns_ - (std::min)(trial_ns_, best_ns * loops_);
    keeps_ = true;
    longer_ = 0;
    longer_ns_ = (std::max)(alone_.second_ns + alone_.second_ns / 4, long_ns);
    begin(best_);
    left_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(tuning::trial_share * lost_ns / best_ns,
                                                                 tuning::loops_of_trial, tuning::most_loops_kept));
    without_none_ += loops_ + left_;
  }

  // The two longest of some loops: an interruption explains only one.
  struct longest {
    std::uint32_t first_ns = 0, second_ns = 0;

    constexpr void note(std::uint32_t ns) noexcept {
      second_ns = (std::max)(second_ns, (std::min)(first_ns, ns));
      first_ns = (std::max)(first_ns, ns);
    }
  };

  static constexpr std::uint32_t first_ones = tuning::loops_of_trial - tuning::loops_that_count;
  static constexpr std::uint32_t unlimited = (std::numeric_limits<std::uint32_t>::max)();
  static constexpr std::uint64_t no_more_ns = tuning::no_loops.worth_ns;
  static constexpr auto long_ns = static_cast<std::uint32_t>(tuning::long_loops.worth_ns);

  std::uint64_t took_ns_ = 0;                    // of the loops in this way, in a trial
  std::uint64_t trial_ns_ = 0;                   // of the loops of this trial, without those of this way
  std::uint64_t best_took_ns_ = 0;               // took_ns_ of the best way of this trial
  std::uint32_t left_ = tuning::loops_of_trial;  // loops in this way until the strand goes on to the next
  std::uint32_t settling_ = first_ones;          // loops until those of this way find their data where it leaves them
  std::uint32_t loops_ = 0;                      // of this trial, without those of this way
  longest first_;                                // of the first loops of this trial
  longest alone_;                                // of the loops that count: in none, else in the first way
  std::uint32_t bounded_ns_ = 0;                 // as took_ns_, but no_more_ns of a loop
  std::uint32_t enough_ns_ = unlimited;          // of bounded_ns_, to see that a way is not the best
  std::uint32_t counted_ns_ = 0;                 // of the loops that count
  std::uint32_t tried_ns_ = 0;                   // of those in the first way, but long_ns of a loop
  std::uint32_t worth_trying_ns_ = 0;            // of tried_ns_, by loops so long that sharing may be worth it
  std::uint32_t best_counted_ns_ = 0;            // counted_ns_ of the best way of this trial
  std::uint32_t longer_ns_ = 0;                  // of a loop that is longer than those of the trial
  std::uint32_t longer_ = 0;                     // loops_per_longer for each such loop, less one for each other
  std::uint32_t without_none_ = 0;               // loops since to share none was tried and lost, or more
  way way_ = way::long_ones;
  way best_ = way::long_ones;
  bool keeps_ = false;         // the best way; else a trial is going on
  bool any_shared_ = false;    // of the loops in this way
  bool none_is_last_ = false;  // of the ways of this trial
};

}}}  // namespace fj::v0_2::detail
