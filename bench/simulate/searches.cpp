// Searches through trees of choices: nqueens, knapsack.
#include <algorithm>
#include <vector>

#include "bench/simulate/kernels.hpp"

namespace simulate {

namespace {

// A fork for every safe place, its right side the places further right in the row. v: columns and both diagonals taken,
// and the columns of this row that are left to be tried.
class nqueens final : public kernel {
 public:
  nqueens(std::uint32_t n, const units& work)
      : all_((std::uint32_t{1} << n) - 1), place_(ps(work.nanoseconds("nqueens.place"))) {}

  node root() const override { return {0, {0, 0, 0, all_}}; }

  void at(node& self, unsigned phase, step& out) const override {
    if (phase > 0) return out.ends(0);
    const auto [columns, left, right, untried, a, b, c] = self.v;
    if (untried == 0) return out.ends(place_);
    const std::uint32_t queen = untried & -untried;
    const std::uint32_t taken = columns | queen, lefts = (left | queen) << 1, rights = (right | queen) >> 1;
    out.forks(place_, {0, {taken, lefts, rights, all_ & ~(taken | lefts | rights)}},
              {0, {columns, left, right, untried ^ queen}});
  }

 private:
  const std::uint32_t all_;
  const picoseconds place_;
};

// Branch and bound, with the best value known from the start: these nodes every search visits, whatever its order. What
// a real one visits on top depends on when it finds what, and is not modelled. v: item, room left, value so far.
class knapsack final : public kernel {
 public:
  knapsack(std::uint32_t items, const units& work) : node_(ps(work.nanoseconds("knapsack.node"))) {
    for (std::uint32_t i = 0; i < items; ++i) {
      const std::uint32_t weight = 1000 + static_cast<std::uint32_t>(random_at(2 * i) % 10'000);
      items_.push_back({weight, weight - 500 + static_cast<std::uint32_t>(random_at(2 * i + 1) % 1000)});
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

  node root() const override { return {search, {0, room_, 0}}; }

  void at(node& self, unsigned phase, step& out) const override {
    if (phase > 0) return out.ends(0);
    const auto [next, room, value, a, b, c, d] = self.v;
    if (self.kind == too_heavy || next == items_.size() || room == 0) return out.ends(node_);
    const item& i = items_[next];
    // The bound: all of the room filled at this item's value per weight.
    if (std::uint64_t{room} * i.value <= std::uint64_t{best_ - value} * i.weight) return out.ends(node_);
    const node without = {search, {next + 1, room, value}};
    if (i.weight > room) return out.forks(node_, {too_heavy, {}}, without);
    out.forks(node_, {search, {next + 1, room - i.weight, value + i.value}}, without);
  }

 private:
  enum : std::uint32_t { search, too_heavy };
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
