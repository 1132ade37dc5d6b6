// Where the children of a scope meet the strand that the scope belongs to, its home strand.
//
// After Nowa (Schmaus, Höller, Nüßle, Reif, Kaiser, Nagel, Schröder-Preikschat: "Nowa: a wait-free
// continuation-stealing concurrency platform", IPDPS 2021): the home strand counts for itself, without atomics, how
// many of its forks were stolen from it; each child of such a fork, when it ends, counts down a word; at the join the
// home strand adds its own count to the word, and then a large constant, which says that it waits. So no child can
// bring the word to that constant before the home strand waits. The child that does resumes the home strand. There is
// no lock, and neither of them loops. While nothing is stolen there is no atomic operation.
//
// Other strands below the scope may fork into it, too. Such a strand counts in the word before it forks, because its
// child may end before the home strand could count it. The home strand need not wait for such a strand: in one branch
// of a fork_join the home strand may join, while the other branch forks. So such a strand may fork when the last child
// has arrived and the home strand has not gone on yet. Then the forking strand subtracts the constant; otherwise its
// own child would be the last one a second time.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/check.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class counting_join {
 public:
  // The home strand.

  /// A fork's continuation, which this is, was stolen: its child will arrive. Of a loop of forks: the rest was stolen,
  /// and so many iterations with it.
  void stolen(std::int64_t count = 1) noexcept { stolen_ += count; }

  /// How many so far, since the last join.
  std::uint64_t stolen_count() const noexcept { return static_cast<std::uint64_t>(stolen_); }

  /// 0 if there is nothing to join: every child that was to arrive has, and what it did is visible.
  std::uint64_t touched() const noexcept {
    // acquire: pairs with the release in arrive, by which a strand that forked elsewhere took its count back
    return static_cast<std::uint64_t>(pending_.load(std::memory_order_acquire) | stolen_);
  }

  /// At the join: whether all children have arrived. What they did is visible then.
  bool all_arrived() noexcept {
    // relaxed: a number. Added, since another strand may fork or arrive meanwhile.
    if (stolen_ != 0) pending_.fetch_add(stolen_, std::memory_order_relaxed);
    stolen_ = 0;
    // acquire: pairs with the release in arrive
    return pending_.load(std::memory_order_acquire) == 0;
  }

  /// Once all_arrived has said no: has the last child to arrive resume the home strand, whose context must be saved
  /// already. False if all have arrived meanwhile: then no child will. Not to be touched by the caller after true.
  bool wait() noexcept {
    // release: pairs with the acquire in arrive, by which the child that resumes the strand sees its context
    return pending_.fetch_add(home_waits, std::memory_order_release) != 0;
  }

  /// After wait, whatever it said: all have arrived, and what they did is visible.
  void go_on() noexcept {
    std::int64_t found = home_waits;
    // Nothing if another strand has taken the constant away. acquire: pairs with the release in arrive, also then
    pending_.compare_exchange_strong(found, 0, std::memory_order_acquire, std::memory_order_acquire);
  }

  // Other strands below the scope.

  /// Before a fork. If it turns out not to be stolen, the strand itself arrives in the child's place.
  void fork_elsewhere() noexcept {
    std::int64_t found = pending_.load(std::memory_order_relaxed);
    // relaxed: what this strand did before is released by the arrival in the child's place; what others have released
    // stays so
    while (!pending_.compare_exchange_weak(found, found == home_waits ? 1 : found + 1, std::memory_order_relaxed)) {}
  }

  // A child whose parent's continuation was stolen, or a thief of the rest of a loop of forks.

  /// Its last act here; a thief arrives for all iterations that it was to run. True if the home strand waits for no
  /// other: then the caller must resume it.
  [[nodiscard]] bool arrive(std::int64_t count = 1) noexcept {
    // release: pairs with the acquires in touched, all_arrived and go_on, by which the home strand sees what the child
    // did; acquire: pairs with the release in wait, by which the caller sees the context of the home strand
    return pending_.fetch_sub(count, std::memory_order_acq_rel) - count == home_waits;
  }

 private:
  // Added while the home strand waits; far from what any number of children could make of the word.
  static constexpr std::int64_t home_waits = -(std::int64_t{1} << 62);

  std::int64_t stolen_ = 0;
  os::atomic<std::int64_t> pending_{0};  // forks that count here, less arrivals
};

}}}  // namespace fj::v0_4::detail
