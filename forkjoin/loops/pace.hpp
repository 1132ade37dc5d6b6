// What earlier loops tell about the time that a loop's elements take.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "forkjoin/detail/entry.hpp"

namespace fj::inline v0_1::detail {

/// Of all loops with the same body, on all strands. A strand looks at a clock to find out that a loop is brief: that it takes
/// no longer than a part of a loop that begins alone. In a loop that was brief before, the two looks would take longer than
/// the loop. All are hints, and are relaxed: a wrong one makes a loop slower.
class pace {
 public:
  /// Whether so many elements, or more, were brief when a strand looked at the clock last.
  bool is_brief(std::size_t elements) const noexcept { return elements <= brief_.load(std::memory_order_relaxed); }

  void learn(std::size_t elements, std::uint64_t took_ns) noexcept {
    if (took_ns <= tuning::part_alone_ns) brief_.store(elements, std::memory_order_relaxed);
  }

  void forget() noexcept { brief_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> brief_ = 0;  // the most elements that were brief; 0: unknown
};

/// Of the loops that run this type of leaf. Each type of body makes another.
template <class Leaf>
inline constinit pace pace_of;

}  // namespace fj::inline v0_1::detail
