// The sections of a shared loop: each P begins with its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>

#include "forkjoin/detail/first_exception.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Programs go over the same data loop after loop, and what a P touched last may lie in its cache. A thief takes the
/// oldest record, wherever the data of its elements lie: with eight P a sixth of the elements came back to the P that
/// had them before. So the forks of a shared loop stand for no elements. Whoever runs one claims a section: that of its
/// own P, or the next one that is left. As the parts of an affinity partitioner: Acar, Blelloch, Blumofe, "The data
/// locality of work stealing", 2000, with one word in place of mailboxes.
class sections {
 public:
  static constexpr unsigned most = 64;  // bits of a word

  /// About two for each P, of up to n elements.
  sections(std::size_t n, unsigned procs) noexcept
      : procs_(procs), count_(static_cast<unsigned>((std::min)({n, std::size_t{2} * procs, std::size_t{most}}))) {}

  unsigned count() const noexcept { return count_; }

  /// One that nobody has claimed, to be called count() times. Ps that are there at once begin with those of their own.
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

/// Calls run(number) for each of the sections of n elements, and throws the exception of the first that throws. All
/// run, whatever is thrown: a section further left may throw what the serial loop would.
template <class Run>
class forked_sections {
 public:
  forked_sections(std::size_t n, unsigned procs, Run run) noexcept : all_(n, procs), run_(run) {}

  unsigned count() const noexcept { return all_.count(); }

  void run() {
    fork(count());
    if (thrown_.any()) std::rethrow_exception(thrown_.take());
  }

 private:
  void fork(unsigned count) {
    if (count == 1) return run_one();
    fj::fork_join([=, this] { fork(count / 2); }, [=, this] { fork(count - count / 2); });
  }

  void run_one() noexcept {
    const unsigned number = all_.claim(static_cast<unsigned>(this_proc()));
    try {
      run_(number, count());
    } catch (...) {
      thrown_.offer(number, detail::caught_exception());
    }
  }

  sections all_;
  first_exception thrown_;
  Run run_;
};

}}}  // namespace fj::v0_2::detail
