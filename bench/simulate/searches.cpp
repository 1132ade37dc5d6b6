// Searches through trees of choices: nqueens, knapsack.
#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/simulate/kernels.hpp"

namespace simulate {

namespace {

// v: columns and both diagonals taken, and the columns of this row that are left to be tried.
class nqueens final : public kernel {
 public:
  nqueens(std::uint32_t n, const units& work)
      : all_((std::uint32_t{1} << n) - 1), place_(ps(work.nanoseconds("nqueens.place"))) {}

  node root() const override { return {row, {}}; }

  void at(node& self, unsigned phase, step& out) const override {
    if (phase > 0) return out.ends(0);
    const auto [columns, left, right, untried, a, b, c] = self.v;
    if (self.kind == rest) return loop(0, self, untried, out);
    if (columns == all_) return out.ends(place_);
    const std::uint32_t free = all_ & ~(columns | left | right);
    if (free == 0) return out.ends(place_);
    loop(place_, self, free, out);
  }

 private:
  enum : std::uint32_t { row, rest };

  static void loop(picoseconds before, const node& self, std::uint32_t untried, step& out) {
    const auto [columns, left, right, a, b, c, d] = self.v;
    const std::uint32_t queen = untried & -untried;
    const node child = {row, {columns | queen, (left | queen) << 1, (right | queen) >> 1}};
    if (untried == queen) return out.calls(before, child);
    out.forks(before, child, {rest, {columns, left, right, untried ^ queen}});
  }

  const std::uint32_t all_;
  const picoseconds place_;
};

// Branch and bound, with the best value known from the start: these nodes every search visits, whatever its order. What
// a real one visits on top depends on when it finds what, and is not modelled. v: item, room left, value so far.
class knapsack final : public kernel {
 public:
  knapsack(std::uint32_t items, const units& work) : node_(ps(work.nanoseconds("knapsack.node"))) {
    for (std::uint32_t i = 0; i < items; ++i) {
      const std::uint64_t chance = mix(i);
      const auto weight = static_cast<std::uint32_t>(chance % 1000 + 1);
      items_.push_back({weight, weight + static_cast<std::uint32_t>((chance >> 32) % 100) + 50});
    }
    std::sort(items_.begin(), items_.end(), [](const item& a, const item& b) {
      return std::uint64_t{a.value} * b.weight > std::uint64_t{b.value} * a.weight;
    });
    for (const item& i : items_) room_ += i.weight;
    room_ /= 2;
    std::vector<std::uint32_t> most(room_ + 1);
    for (const item& i : items_)
      for (std::uint32_t room = room_; room >= i.weight; --room)
        most[room] = std::max(most[room], most[room - i.weight] + i.value);
    best_ = most[room_];
  }

  node root() const override { return {0, {0, room_, 0}}; }

  void at(node& self, unsigned phase, step& out) const override {
    if (phase > 0) return out.ends(0);
    const auto [next, room, value, a, b, c, d] = self.v;
    if (next == items_.size()) return out.ends(node_);
    const item& i = items_[next];
    // All of the room filled with the best item there is.
    if (value + std::uint64_t{room} * i.value / i.weight < best_) return out.ends(node_);
    const node without = {0, {next + 1, room, value}};
    if (i.weight > room) return out.calls(node_, without);
    out.forks(node_, {0, {next + 1, room - i.weight, value + i.value}}, without);
  }

 private:
  struct item {
    std::uint32_t weight, value;
  };

  std::vector<item> items_;
  std::uint32_t room_ = 0, best_ = 0;
  const picoseconds node_;
};

}  // namespace

made make_nqueens(long n, const units& work) { return std::make_unique<nqueens>(static_cast<std::uint32_t>(n), work); }
made make_knapsack(long n, const units& work) {
  return std::make_unique<knapsack>(static_cast<std::uint32_t>(n), work);
}

}  // namespace simulate
