// The 0/1 knapsack problem by branch and bound, after Cilk-5's knapsack: take the next item or leave it, both in
// parallel, and give up where not even a fraction of an item for every bit of room could beat the best found so far.
// The best is shared, so which branches are given up depends on the schedule; the result does not.
#pragma once

#include <atomic>
#include <type_traits>

#include "bench/harness/work.hpp"

namespace bench::knapsack {

struct item {
  int value;
  int weight;
};

/// The best value so far. Relaxed: an old value costs a few branches, not the result, which the joins order.
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

/// Items [at, end), by falling value per weight, are to be decided; room is left, and value is what was taken so far.
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

/// The greatest value of items, by falling value per weight, that weigh no more than room together. What fits in that
/// order is the best to begin with.
template <class Way>
int solve(const item* first, const item* last, int room) {
  int greedy = 0;
  int left = room;
  for (const item* at = first; at != last; ++at) {
    if (at->weight <= left) {
      left -= at->weight;
      greedy += at->value;
    }
  }
  std::conditional_t<Way::is_serial, private_best, shared_best> best(greedy);
  search<Way>(first, last, room, 0, best);
  return best.get();
}

}  // namespace bench::knapsack
