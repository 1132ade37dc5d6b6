// How a loop without a grain cuts itself into parts: when it is shared with other workers, and how long its parts are
// until then. split_loop.hpp asks, and cuts. The numbers stand in forkjoin/abi/tuning.hpp.
//
// 1. A strand begins such a loop alone, first with one element, then in parts of a few microseconds, and leaves the
//    rest to thieves meanwhile: if an element takes long, a thief takes all that comes after its part. The strand
//    shares the loop once the loop has run for worth_ns, or the rest seems to take as much more.
// 2. No such bound is best for all programs: if loops of a program use the same data, and some of these loops are
//    shared, the data lie in the caches of two CPUs, and what it costs to fetch them depends on how far these are
//    apart. So each type of body, for each length of its loops, tries an early and a late bound now and then, and keeps
//    the faster one for some time. Where early has won, later loops are shared from their start.
// 3. What a loop of as many elements with the same body took before decides its parts. If it was brief, the first part
//    has 16 elements (1 if there are no more), and the second all others. If it was very brief, there is one part,
//    which thieves cannot take, and no worker is woken. If such a loop takes long all the same, the next ones are cut
//    into parts again.
// 4. A shared loop has a few sections for each P, and each P begins with its own (sections.hpp). A strand runs a
//    section in chunks of a few microseconds, whose size it finds by the clock; when a worker has nothing to do, the
//    strand forks half of what is left.
// 5. On one P, without a stop token, the loop is the plain one, until the first fiber, wait or blocking call of the
//    runtime.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/abi/os/ticks.hpp"
#include "forkjoin/abi/tuning.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Whether loops of a type of body, and of about one length, are shared early or late. A trial runs `windows` of loops
/// by the two ways in turn, takes the time of an element in each window but its first loops, which find their data
/// where the other way left it, and keeps the faster way for so many loops that a trial costs little. A way counts with
/// its best window, as the system may take a CPU away in another. If it does so often, sharing does not gain,
/// whatever the trial found: so where loops are shared early, later windows must be faster, too, than loops that were
/// shared late. If a window soon after the trial is not, these strands share late until the next trial; if one is not
/// later, they try again, as what lasts would have come sooner. If late has won, the next trial comes soon, and each
/// time twice as late: such a moment may have lasted longer than the trial. Bodies whose loops follow each other in a
/// program try in step, since each counts its own loops. Explore, then commit: Perchet, Rigollet, Chassang, Snowberg,
/// "Batched bandit problems", 2016. All strands use it; all are hints, and relaxed.
class sharing_trial {
 public:
  /// By which the next loop decides.
  const tuning::sharing& terms() const noexcept { return shares() ? tuning::early : tuning::late; }

  bool shares() const noexcept {
    const std::uint32_t at = loops_.load(std::memory_order_relaxed);
    return at < trial ? at / tuning::loops_of_window % 2 == 0 : shares_.load(std::memory_order_relaxed);
  }

  /// Whether the next loop is shared from its begin on, not only once it has proved long: if it is to be shared early,
  /// and those before were long enough to count.
  bool shares_at_once() const noexcept {
    return loops_.load(std::memory_order_relaxed) >= tuning::loops_to_settle && shares();
  }

  /// Forgets all.
  void begin_again() noexcept {
    begin_window();
    loops_.store(0, std::memory_order_relaxed);
  }

  /// After a loop. Long ones do not count: both ways share them.
  void note(std::size_t elements, std::uint64_t took_ns) noexcept {
    constexpr std::uint64_t is_long = 2 * tuning::late.worth_ns;
    const std::uint32_t at = loops_.load(std::memory_order_relaxed);
    if (at < trial) {
      if (took_ns >= is_long) return;
      count(at, elements, took_ns);
    } else if (shares_.load(std::memory_order_relaxed)) {
      // A loop may be long only because another worker had lost its CPU: so not took_ns tells.
      if (static_cast<float>(elements) * best_[1].load(std::memory_order_relaxed) >= is_long) return;
      if (!holds(at - trial, elements, took_ns)) return;
    }
    loops_.store(at + 1 == kept_.load(std::memory_order_relaxed) ? 0 : at + 1, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t trial = 2 * tuning::windows_of_way * tuning::loops_of_window;

  // Of the trial.
  void count(std::uint32_t at, std::size_t elements, std::uint64_t took_ns) noexcept {
    const std::uint32_t in_window = at % tuning::loops_of_window;
    if (in_window < tuning::loops_to_settle) return begin_window();
    add(elements, took_ns);
    if (in_window + 1 != tuning::loops_of_window) return;
    const std::uint32_t window = at / tuning::loops_of_window;
    const float of_element = end_window();
    std::atomic<float>& best = best_[window % 2];
    if (window < 2 || of_element < best.load(std::memory_order_relaxed))
      best.store(of_element, std::memory_order_relaxed);
    if (at + 1 == trial)
      find(best_[0].load(std::memory_order_relaxed) < tuning::least_gain * best_[1].load(std::memory_order_relaxed));
  }

  void find(bool early) noexcept {
    shares_.store(early, std::memory_order_relaxed);
    const std::uint32_t doubled = (std::min)(2 * late_kept_.load(std::memory_order_relaxed), tuning::loops_kept);
    kept_.store(early ? tuning::loops_kept : late_kept_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    late_kept_.store(early ? tuning::loops_late_at_first : doubled, std::memory_order_relaxed);
  }

  // After the trial, where it has found that to share early is faster: so many loops ago. False if it begins again.
  bool holds(std::uint32_t loops_ago, std::size_t elements, std::uint64_t took_ns) noexcept {
    add(elements, took_ns);
    if ((loops_ago + 1) % tuning::loops_watched != 0 || end_window() <= best_[1].load(std::memory_order_relaxed))
      return true;
    if (loops_ago >= tuning::loops_in_doubt) {
      begin_again();
      return false;
    }
    find(false);
    return true;
  }

  void begin_window() noexcept {
    took_ns_.store(0, std::memory_order_relaxed);
    elements_.store(0, std::memory_order_relaxed);
  }

  void add(std::size_t elements, std::uint64_t took_ns) noexcept {
    took_ns_.store(took_ns_.load(std::memory_order_relaxed) + took_ns, std::memory_order_relaxed);
    elements_.store(elements_.load(std::memory_order_relaxed) + elements, std::memory_order_relaxed);
  }

  // The time of an element; and the next window begins.
  float end_window() noexcept {
    const float of_element = static_cast<float>(took_ns_.load(std::memory_order_relaxed)) /
                             static_cast<float>(elements_.load(std::memory_order_relaxed));
    begin_window();
    return of_element;
  }

  std::atomic<std::uint32_t> loops_ = 0;  // since the trial began
  std::atomic<bool> shares_ = true;       // what it has found, for kept_ loops, which began with the trial
  std::atomic<std::uint32_t> kept_ = tuning::loops_kept, late_kept_ = tuning::loops_late_at_first;
  std::array<std::atomic<float>, 2> best_ = {};            // ns of an element: shared early, shared late
  std::atomic<std::uint64_t> took_ns_ = 0, elements_ = 0;  // of the window
};

/// Of all loops with the same body, on all strands. A strand looks at a clock to find out that a loop is brief: that it
/// takes no longer than a part of a loop that begins alone. In a loop that was brief before, the two looks would take
/// longer than the loop. In a very brief one even a fork would. All are hints, and are relaxed: a wrong one makes a
/// loop slower.
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

  /// Before a brief loop that its strand runs with a fork: whether the strand is to look at the clock, and to call
  /// learn_more unless a thief takes a part.
  bool wants_more() noexcept {
    const std::uint32_t left = until_more_.load(std::memory_order_relaxed);
    until_more_.store(left != 0 ? left - 1 : tuning::loops_per_look, std::memory_order_relaxed);
    return left == 0;
  }

  /// Before a loop whose fork wakes a worker: as many other forks would cost as much.
  void note_waking() noexcept {
    const std::uint32_t left = until_more_.load(std::memory_order_relaxed);
    until_more_.store(left - (std::min)(left, tuning::forks_per_waking), std::memory_order_relaxed);
  }

  void learn_more(std::size_t elements, std::uint64_t took_ns) noexcept {
    if (took_ns <= tuning::very_brief_ns) return very_brief_.store(elements, std::memory_order_relaxed);
    if (took_ns > tuning::brief_ns) forget(static_cast<std::int64_t>(took_ns));
  }

  /// After a loop that was expected to be brief, and took so long. Until a strand sees again whether a loop is very
  /// brief, loops of this body fork, so many that all these forks cost as much as the mistake: without a fork, others
  /// could not help. So the loops that do without forks cost at most twice as much as with forks, however often one is
  /// long.
  void forget(std::int64_t took_ns) noexcept {
    const std::uint64_t forks = static_cast<std::uint64_t>((std::max)(took_ns, std::int64_t{0})) / tuning::part_cost_ns;
    constexpr std::uint64_t most = ~std::uint32_t{0};
    until_more_.store(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(forks, tuning::loops_per_look, most)),
                      std::memory_order_relaxed);
    very_brief_.store(0, std::memory_order_relaxed);
    brief_.store(0, std::memory_order_relaxed);
  }

  /// Of loops of about so many elements that are not brief. Two lengths that share a trial differ by more than 64
  /// times: one of their loops is brief or long.
  sharing_trial& trial_of(std::size_t elements) noexcept {
    return trials_[static_cast<unsigned>(std::bit_width(elements)) %
                   std::size(trials_)];  // an int or a size_t, as libraries differ
  }

 private:
  sharing_trial trials_[8];
  std::atomic<std::size_t> very_brief_ = 0;    // the most elements that were; 0: unknown
  std::atomic<std::size_t> brief_ = 0;         // likewise
  std::atomic<std::size_t> ever_brief_ = 0;    // the greatest value of brief_
  std::atomic<std::uint32_t> until_more_ = 8;  // loops: a few, so that caches hold what these use
};

/// Of the loops that run this type of body.
template <class Body>
inline constinit pace pace_of;

/// The parts in which a strand runs a loop that it has begun alone, until the loop is over or worth sharing.
class lone_parts {
 public:
  lone_parts(std::size_t n, pace& known) noexcept
      : n_(n), known_(known), trial_(known.trial_of(n)), terms_(trial_.terms()) {}

  /// Whether the loop is worth sharing before its first part.
  bool worth_sharing_at_once() const noexcept { return trial_.shares_at_once(); }

  std::size_t size() const noexcept { return size_; }

  /// After the elements [first, middle), which ended at the time `now`: whether the rest is worth sharing. Else size()
  /// is that of the next part.
  bool worth_sharing(std::size_t first, std::size_t middle, std::uint64_t now) noexcept {
    const std::uint64_t passed = now - before_, left = n_ - middle;
    const std::uint64_t taken = passed > tuning::part_cost_ns ? passed - tuning::part_cost_ns : 1;
    const std::size_t done = middle - first;
    // A first element misses caches, perhaps also those for instructions: it says little about a loop that was brief
    // before.
    const bool is_known = now - begun_ > terms_.known_after_ns && (first != 0 || !known_.was_ever_brief(n_));
    if (now - begun_ > terms_.worth_ns || (is_known && left * taken > terms_.worth_ns * done)) return true;
    // What takes no longer than a part should is not cut. But the elements so far may be cheaper than those to come.
    const std::size_t longer = std::min<std::size_t>(done * terms_.part_ns / taken, left / 2) + 1;
    size_ = (std::min)(done * 32, left * taken < terms_.part_ns * done ? left : longer);
    before_ = now;
    return false;
  }

  /// After the loop. `alone`: the strand has run all of it. Returns the time that it took, in nanoseconds.
  std::uint64_t end(bool alone) const noexcept {
    const std::uint64_t took = os::rough_ns() - begun_;
    if (os::takes_turns()) return took;  // a schedule is not to depend on those before
    if (took > tuning::early.worth_ns / 2) {
      trial_.note(n_, took);
    } else if (trial_.shares_at_once()) {
      trial_.begin_again();
    }
    if (alone) known_.learn(n_, took);
    return took;
  }

 private:
  const std::size_t n_;
  pace& known_;
  sharing_trial& trial_;
  const tuning::sharing& terms_;
  const std::uint64_t begun_ = os::rough_ns();
  std::uint64_t before_ = begun_;
  std::size_t size_ = 1;
};

/// The chunk of one strand in one loop. It starts with a single element, which may take long, and grows fast, as most
/// do not. A chunk of a few microseconds hides the cost of the clock and of the look for hungry workers; a chunk of
/// more than a few dozen keeps these workers waiting.
class adaptive_chunk {
 public:
  std::size_t size() const noexcept { return size_; }

  void start() noexcept { started_ = os::now_ns(); }

  /// Called after each chunk.
  void adapt() noexcept {
    const std::int64_t now = os::now_ns();
    const std::int64_t taken = now - started_;
    started_ = now;
    if (taken < tuning::shortest_chunk_ns) {
      if (size_ < most)
        size_ *= taken < tuning::shortest_chunk_ns / 64 ? 64u : taken < tuning::shortest_chunk_ns / 8 ? 8u : 2u;
    } else if (taken > tuning::longest_chunk_ns && size_ > 1) {
      size_ /= 2;
    }
  }

 private:
  static constexpr std::size_t most = std::size_t(1) << (8 * sizeof(std::size_t) - 8);  // loops may be over nothing

  std::size_t size_ = 1;
  std::int64_t started_;
};

}}}  // namespace fj::v0_4::detail
