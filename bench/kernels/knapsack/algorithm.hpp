// The 0/1 knapsack problem by branch and bound, after Cilk-5's knapsack: take the next item or leave it, both in
// parallel. A branch ends where even fractions of items in all of the room left could not beat the best value so far.
// All strands share the best value, so the schedule decides which branches end; the result does not depend on it.
#pragma once

#include <atomic>
#include <type_traits>

#include "bench/harness/work.hpp"

namespace bench::knapsack {

struct item {
  int value;
  int weight;
};

/// The best value so far. Relaxed: to read an old value costs some branches more. The joins order the result.
class shared_best {
 public:
  explicit shared_best(int value) : value_(value) {}

  int get() const { return value_.load(std::memory_order_relaxed); }
  void raise(int value) {
    int now = get();
    while (now < value && !value_.compare_exchange_weak(now, value, std::memory_order_relaxed)) {}
  }

 private:
  std::atomic<int> value_;
};

/// The same for one thread.
class private_best {
 public:
  explicit private_best(int value) : value_(value) {}

  int get() const { return value_; }
  void raise(int value) {
    if (value_ < value) value_ = value;
  }

 private:
  int value_;
};

/// Decides about the items [at, end), which are sorted by falling value per weight. `room` is left, `value` is the sum
/// so far.
template <class Way, class Best>
void search(const item* at, const item* end, int room, int value, Best& best) {
  if constexpr (counts_work<Way>) Way::work(unit::knapsack_node, 1);
  if (at == end || room == 0) return best.raise(value);
  // The bound: as if all room were filled at the next item's value per weight.
  if (long{room} * at->value <= long{best.get() - value} * at->weight) return;
  Way::fork(
      [=, &best] {
        if (at->weight <= room) search<Way>(at + 1, end, room - at->weight, value + at->value, best);
      },
      [=, &best] { search<Way>(at + 1, end, room, value, best); });
}

/// The value of the items that fit in this order: the best value to begin with.
inline int greedy(const item* first, const item* last, int room) {
  int value = 0;
  for (const item* at = first; at != last; ++at) {
    if (at->weight > room) continue;
    room -= at->weight;
    value += at->value;
  }
  return value;
}

/// The greatest value of items that together weigh no more than `room`. The items are sorted by falling value per
/// weight.
template <class Way>
int solve(const item* first, const item* last, int room) {
  std::conditional_t<Way::is_serial, private_best, shared_best> best(greedy(first, last, room));
  search<Way>(first, last, room, 0, best);
  return best.get();
}

}  // namespace bench::knapsack
