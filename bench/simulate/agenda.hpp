// Who acts next. Each processor that is not asleep has one entry.
//
// Processors that run a strand are kept apart from those that look for work: a fork that no thief can steal is no
// event. No other P sees what a strand does to its own deque and stack before a thief looks; so a processor may go on
// alone up to the next look of those that look already, and up to `lookahead` after the next act of one that works,
// which cannot look earlier than that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "bench/simulate/kernel.hpp"

namespace simulate {

class agenda {
 public:
  explicit agenda(picoseconds lookahead) noexcept : lookahead_(lookahead) {}

  void add(picoseconds when, unsigned processor, bool works) { (works ? workers_ : lookers_).push({when, processor}); }

  // At the same time, what works comes before what looks, and then the first processor; also for who goes on.

  std::size_t size() const noexcept { return workers_.size() + lookers_.size(); }

  bool empty() const noexcept { return workers_.empty() && lookers_.empty(); }

  /// The next processor. Only if there is one.
  unsigned take() {
    queue& from = first(workers_) <= first(lookers_) ? workers_ : lookers_;
    const unsigned next = from.top().second;
    from.pop();
    return next;
  }

  /// Whether it is the turn of a processor that works and wants to do something that others see.
  bool may_act(picoseconds when, unsigned processor) const noexcept {
    return when <= first(lookers_) && is_before(when, processor, workers_);
  }

  /// Whether it is the turn of a processor that looks at others' deques.
  bool may_look(picoseconds when, unsigned processor) const noexcept {
    return when < first(workers_) && is_before(when, processor, lookers_);
  }

  /// The time of the next act.
  picoseconds next() const noexcept { return std::min(first(workers_), first(lookers_)); }

  /// Up to when the processor that was taken may act for itself.
  picoseconds next_look() const noexcept {
    const picoseconds work = first(workers_);
    return std::min(work > never - lookahead_ ? never : work + lookahead_, first(lookers_));
  }

 private:
  using entry = std::pair<picoseconds, unsigned>;
  using queue = std::priority_queue<entry, std::vector<entry>, std::greater<>>;
  static constexpr picoseconds never = std::numeric_limits<picoseconds>::max();

  static bool is_before(picoseconds when, unsigned processor, const queue& others) noexcept {
    return others.empty() || entry(when, processor) < others.top();
  }

  static picoseconds first(const queue& of) noexcept { return of.empty() ? never : of.top().first; }

  const picoseconds lookahead_;
  queue workers_;
  queue lookers_;
};

}  // namespace simulate
