// The 0/1 knapsack problem with n items by branch and bound.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bench/harness/kernel.hpp"
#include "bench/kernels/common/random.hpp"
#include "bench/kernels/knapsack/algorithm.hpp"

namespace bench::knapsack {

inline constexpr long small[] = {44};
inline constexpr long usual[] = {68};
inline constexpr long large[] = {84};

/// Items with values near their weights, so that bounds help little, sorted by falling value per weight.
inline std::vector<item> items_to_pack(long count) {
  std::vector<item> items;
  for (long i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const int weight = 1000 + static_cast<int>(random_at(2 * at) % 10'000);
    items.push_back({.value = weight - 500 + static_cast<int>(random_at(2 * at + 1) % 1000), .weight = weight});
  }
  std::sort(items.begin(), items.end(),
            [](const item& a, const item& b) { return long{a.value} * b.weight > long{b.value} * a.weight; });
  return items;
}

inline int room_for(const std::vector<item>& items) {
  int weight = 0;
  for (const item& i : items) weight += i.weight;
  return weight / 2;
}

/// The right value by another method: best[r] is the greatest value of the items so far in room r.
inline std::uint64_t expected(long count) {
  if (count < 1 || count > 10'000) throw std::invalid_argument("knapsack: the size is from 1 to 10000");
  const std::vector<item> items = items_to_pack(count);
  std::vector<int> best(static_cast<std::size_t>(room_for(items)) + 1);
  for (const item& i : items) {
    for (std::size_t room = best.size(); room-- > static_cast<std::size_t>(i.weight);) {
      best[room] = std::max(best[room], best[room - static_cast<std::size_t>(i.weight)] + i.value);
    }
  }
  return static_cast<std::uint64_t>(best.back());
}

inline constexpr kernel description{
    .name = "knapsack",
    .measured = {small, usual, large},
    .cut_off = false,
    .parallel = true,
    .expected = expected,
};

template <class Way>
class problem {
 public:
  explicit problem(long size) : items_(items_to_pack(size)), room_(room_for(items_)) {}
  void run() { result_ = solve<Way>(items_.data(), items_.data() + items_.size(), room_); }
  std::uint64_t result() const { return static_cast<std::uint64_t>(result_); }

 private:
  std::vector<item> items_;
  int room_;
  int result_ = 0;
};

}  // namespace bench::knapsack
