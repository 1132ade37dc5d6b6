// The serial program, written by hand.
#include <algorithm>

#include "bench/harness/problem.hpp"
#include "bench/harness/ways/serial.hpp"

namespace bench::knapsack {

namespace {

void search(const item* at, const item* end, int room, int value, int& best) {
  if (at == end || room == 0) {
    best = std::max(best, value);
    return;
  }
  if (long{room} * at->value <= long{best - value} * at->weight) return;
  if (at->weight <= room) search(at + 1, end, room - at->weight, value + at->value, best);
  search(at + 1, end, room, value, best);
}

}  // namespace

template <>
void problem<ways::serial>::run() {
  const item* const first = items_.data();
  const item* const last = first + items_.size();
  int best = greedy(first, last, room_);
  search(first, last, room_, 0, best);
  result_ = best;
}

}  // namespace bench::knapsack

BENCH_WAY(serial)
