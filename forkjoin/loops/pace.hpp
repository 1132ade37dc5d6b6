// What earlier loops tell about the time that a loop's elements take.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "forkjoin/detail/entry.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Of all loops with the same body, on all strands. A strand looks at a clock to find out that a loop is brief: that it takes
/// no longer than a part of a loop that begins alone. In a loop that was brief before, the two looks would take longer than
/// the loop. In a very brief one even a fork would. All are hints, and are relaxed: a wrong one makes a loop slower.
class pace {
 public:
  /// Whether so many elements, or more, were brief when a strand looked at the clock last.
  bool is_brief(std::size_t elements) const noexcept { return elements <= brief_.load(std::memory_order_relaxed); }
  /// Whether they were so brief that a fork would cost more than it is worth.
  bool is_very_brief(std::size_t elements) const noexcept {
    return elements <= very_brief_.load(std::memory_order_relaxed);
  }

  /// Whether they were brief once, though perhaps not lately.
  bool was_ever_brief(std::size_t elements) const noexcept {
    return elements <= ever_brief_.load(std::memory_order_relaxed);
  }

  void learn(std::size_t elements, std::uint64_t took_ns) noexcept {
    if (took_ns > tuning::brief_ns) return;
    brief_.store(elements, std::memory_order_relaxed);
    if (!was_ever_brief(elements)) ever_brief_.store(elements, std::memory_order_relaxed);
  }

  /// Before a brief loop that its strand runs with a fork: whether the strand is to look at the clock, and to call learn_more
  /// unless a thief takes a part.
  bool wants_more() noexcept {
    const std::uint32_t left = until_more_.load(std::memory_order_relaxed);
    until_more_.store(left != 0 ? left - 1 : tuning::loops_per_look, std::memory_order_relaxed);
    return left == 0;
  }

  void learn_more(std::size_t elements, std::uint64_t took_ns) noexcept {
    if (took_ns <= tuning::very_brief_ns) return very_brief_.store(elements, std::memory_order_relaxed);
    if (took_ns > tuning::brief_ns) forget(static_cast<std::int64_t>(took_ns));
  }

  /// After a loop that was expected to be brief, and took so long. Until a strand sees again whether a loop is very brief, loops
  /// of this body fork, so many that all these forks cost as much as the mistake: without a fork, others could not help. So
  /// the loops that do without forks cost at most twice as much as with forks, however often one is long.
  void forget(std::int64_t took_ns) noexcept {
    const std::uint64_t forks = static_cast<std::uint64_t>((std::max)(took_ns, std::int64_t{0})) / tuning::part_cost_ns;
    constexpr std::uint64_t most = ~std::uint32_t{0};
    until_more_.store(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(forks, tuning::loops_per_look, most)),
                      std::memory_order_relaxed);
    very_brief_.store(0, std::memory_order_relaxed);
    brief_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t> very_brief_ = 0;    // the most elements that were; 0: unknown
  std::atomic<std::size_t> brief_ = 0;         // likewise
  std::atomic<std::size_t> ever_brief_ = 0;    // the greatest value of brief_
  std::atomic<std::uint32_t> until_more_ = 8;  // loops: a few, so that caches hold what these use
};

/// Of the loops that run this type of leaf. Each type of body makes another.
template <class Leaf>
inline constinit pace pace_of;

}}}  // namespace fj::v0_2::detail
