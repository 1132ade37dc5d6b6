// Where the children of a scope meet the strand that the scope belongs to, its home strand.
//
// After Nowa (Schmaus, Höller, Nüßle, Reif, Kaiser, Nagel, Schröder-Preikschat: "Nowa: a wait-free continuation-stealing
// concurrency platform", IPDPS 2021): the home strand counts for itself, without atomics, how many of its forks were
// stolen from it; each child of such a fork, when it ends, counts down a word; at the join the home strand adds its own
// count to the word, and a large constant that says that it waits. So nobody can bring the word to that constant before
// the home strand waits, and whoever does goes on: no lock, no loop, and nothing atomic as long as nothing is stolen.
//
// Other strands below the scope may fork into it, too. They count in the word, before they fork, because their children
// may end before anybody else could.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/check.hpp"

namespace fj::detail {

template <class Machine>
class basic_counting_join {
 public:
  // The home strand.

  /// A fork's continuation, which this is, was stolen: its child will arrive.
  void stolen() noexcept { ++stolen_; }

  /// How many so far, since the last join.
  std::uint64_t stolen_count() const noexcept { return static_cast<std::uint64_t>(stolen_); }

  /// 0 if there is nothing to join: no child has arrived, and none will. What arrived before is visible.
  std::uint64_t touched() const noexcept {
    // acquire: pairs with the release in arrive, by which a strand that was elsewhere took its count back
    return static_cast<std::uint64_t>(pending_.load(std::memory_order_acquire) | stolen_);
  }

  /// Whether all children have arrived. What they did is visible then.
  bool all_arrived() const noexcept {
    // acquire: pairs with the release in arrive
    return pending_.load(std::memory_order_acquire) + stolen_ == 0;
  }

  /// Has the last child to arrive resume the home strand, whose context must be saved already. False if all have arrived:
  /// then nobody will. Not to be touched by the caller after true.
  bool wait() noexcept {
    // release: whoever resumes the strand sees its context; acquire: pairs with the release in arrive
    return pending_.fetch_add(stolen_ + home_waits, std::memory_order_acq_rel) + stolen_ != 0;
  }

  /// After the join: ready for the next one.
  void start_anew() noexcept {
    stolen_ = 0;
    pending_.store(0, std::memory_order_relaxed);  // all have arrived, so nobody else knows of it
  }

  // Other strands below the scope.

  /// Before a fork. If it turns out not to be stolen, the strand itself arrives in the child's place. relaxed: what it
  /// did before is released by whoever arrives.
  void fork_elsewhere() noexcept { pending_.fetch_add(1, std::memory_order_relaxed); }

  // A child whose parent's continuation was stolen.

  /// Its last act here. True if the home strand waits for nobody else: then the caller must resume it.
  [[nodiscard]] bool arrive() noexcept {
    // release: the home strand sees what the child did; acquire: the caller sees the context of the home strand
    return pending_.fetch_sub(1, std::memory_order_acq_rel) - 1 == home_waits;
  }

 private:
  // Added while the home strand waits; far from what any number of children could make of the word.
  static constexpr std::int64_t home_waits = -(std::int64_t{1} << 62);

  std::int64_t stolen_ = 0;
  typename Machine::template atomic<std::int64_t> pending_{0};  // forks elsewhere, less arrivals
};

}  // namespace fj::detail
