// The sections of a shared loop: each P begins with its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail {

/// Programs go over the same data loop after loop, and what a P touched last may lie in its cache. A thief takes the
/// oldest record, wherever the data of its elements lie: with eight P a sixth of the elements came back to the P that
/// had them before. So the forks of a shared loop stand for no elements. Whoever runs one claims a section: that of its
/// own P, or the next one that is left. As the parts of an affinity partitioner: Acar, Blelloch, Blumofe, "The data
/// locality of work stealing", 2000, with one word in place of mailboxes.
class sections {
 public:
  static constexpr std::size_t per_proc = 4;
  static constexpr unsigned most = 64;  // bits of a word

  /// `count` of them, from 1 to most.
  sections(unsigned count, unsigned procs) noexcept : procs_(procs), count_(count) {}

  /// How many a loop of n elements has: a few for each P, as one that is late finds the later ones still its own.
  static unsigned of_elements(std::size_t n, unsigned procs) noexcept {
    return static_cast<unsigned>((std::min)({n, per_proc * procs, std::size_t{most}}));
  }

  /// The same for a tree of n leaves that is cut below some level of forks: a power of two.
  static unsigned of_tree(std::size_t n, unsigned procs) noexcept {
    if (procs == 1) return 1;
    return static_cast<unsigned>(std::bit_floor((std::min)({n, std::bit_ceil(per_proc * procs), std::size_t{most}})));
  }

  /// One that nobody has claimed, to be called as often as there are sections. Ps that are there at once begin with
  /// those of their own.
  unsigned claim(unsigned proc) noexcept {
    const unsigned own = static_cast<unsigned>(std::uint64_t{count_} * proc / procs_);
    for (std::uint64_t taken = taken_.load(std::memory_order_relaxed);;) {
      const std::uint64_t left = ~taken & (~std::uint64_t{0} >> (most - count_));
      const std::uint64_t from_own = left >> own << own;
      const std::uint64_t one = std::uint64_t{1} << std::countr_zero(from_own ? from_own : left);
      // relaxed: the forks and joins order what the sections read and write
      taken = taken_.fetch_or(one, std::memory_order_relaxed);
      if (!(taken & one)) return static_cast<unsigned>(std::countr_zero(one));
    }
  }

 private:
  const unsigned procs_;
  const unsigned count_;
  std::atomic<std::uint64_t> taken_{0};
};

}}}  // namespace fj::v0_4::detail
