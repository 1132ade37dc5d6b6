// A loop over numbers, split among strands: all loops, and the algorithms that are loops, run on it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "forkjoin/detail/function_ref.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/adaptive_chunk.hpp"
#include "forkjoin/loops/affinity.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/run.hpp"

namespace fj::inline v0_1::detail {

/// What a loop does with the numbers from begin to end.
using loop_leaf = function_ref<void(std::size_t begin, std::size_t end)>;

/// Calls leaf(begin, end) for consecutive parts of a range of numbers. For use inside a runtime.
template <class Policy>
class split_loop {
 public:
  split_loop(loop_leaf leaf, const loop_options& options) noexcept
      : leaf_(leaf), grain_(options.grain), parts_(options.stop) {}

  /// Runs the loop over [0, n). With a grain it forks a tree of blocks that depends on n and the grain alone; without, it
  /// splits lazily.
  void run(std::size_t n) {
    if (n == 0) return;
    if (grain_ != 0) {
      const blocks all(n, grain_);
      const auto run_block = [&, this](std::size_t block) { leaf_(all.begin(block), all.end(block)); };
      for_blocks<Policy>(0, all.count(), parts_, run_block);
    } else {
      const unsigned p = procs();
      split_eagerly(0, n, p == 1 ? 0 : static_cast<int>(std::bit_width(p)), affinity(0, n));
    }
  }

 private:
  // At the start the time for an element is unknown, and may be long. So the strand forks about two parts for each P at
  // once, even if no worker is hungry: one that has just finished the loop before may be about to look for work.
  void split_eagerly(std::size_t first, std::size_t last, int levels, const affinity& sections) {
    if (levels == 0 || last - first == 1) return split_lazily(first, last, adaptive_chunk());
    const std::size_t middle = halfway(first, last);
    fork_parts<Policy>(
        sections.takes_second(first, middle, last),
        [&, first, middle] { split_eagerly(first, middle, levels - 1, sections); },
        [&, middle, last] { split_eagerly(middle, last, levels - 1, sections); });
  }

  // Lazy binary splitting: the strand works in chunks, and forks half of what is left only when a worker is hungry.
  // Tzannes, Caragea, Barua, Vishkin, "Lazy binary-splitting: a run-time adaptive work-stealing scheduler", 2010. Their
  // strand looks at its own deque instead, and its chunk is given.
  void split_lazily(std::size_t first, std::size_t last, adaptive_chunk chunk) {
    chunk.start();
    while (true) {
      const std::size_t n = std::min(chunk.size() + up_to_line(first, chunk.size()), last - first);
      parts_.run(first, [=, this] { leaf_(first, first + n); });
      first += n;
      if (first == last) return;
      chunk.adapt();
      if (last - first > chunk.size() && hungry()) break;
    }
    const std::size_t middle = halfway(first, last);
    fork_join<Policy>([=, this] { split_lazily(first, middle, chunk); },
                      [=, this] { split_lazily(middle, last, chunk); });
  }

  // Parts of many elements begin at multiples of what a cache line may hold. After a first part of one element all vectors
  // would lie across lines otherwise, which made a loop 4 % slower.
  static constexpr std::size_t line = 64;

  static std::size_t up_to_line(std::size_t at, std::size_t chunk) noexcept { return chunk < line ? 0 : -at % line; }

  static std::size_t halfway(std::size_t first, std::size_t last) noexcept {
    const std::size_t half = (last - first) / 2;
    return first + half + up_to_line(first + half, half / line);
  }

  const loop_leaf leaf_;
  const std::size_t grain_;
  ordered_parts parts_;
};

/// Calls leaf(begin, end) for consecutive parts of [0, n). Outside of a runtime it enters the default one.
template <class Policy>
void for_parts(std::size_t n, const loop_options& options, loop_leaf leaf) {
  fj::run([&] { split_loop<Policy>(leaf, options).run(n); });
}

}  // namespace fj::inline v0_1::detail
