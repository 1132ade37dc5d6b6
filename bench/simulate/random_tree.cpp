#include "bench/simulate/random_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "bench/kernels/common/random.hpp"
#include "bench/simulate/kernel.hpp"

namespace simulate {

namespace {

/// Each seed has a sequence of its own.
class dice {
 public:
  explicit dice(std::uint64_t seed) : at_(seed << 32) {}

  double uniform() { return bench::uniform_at(at_++); }
  bool happens(double often) { return uniform() < often; }
  unsigned below(unsigned n) { return static_cast<unsigned>(uniform() * n); }
  double log_uniform(double least, double most) { return least * std::pow(most / least, uniform()); }
  /// Least 1.
  double pareto(double exponent) { return std::pow(1 - uniform(), -1 / exponent); }

 private:
  std::uint64_t at_;
};

// Of all leaves: what takes longer takes long to simulate, as idle thieves look around.
constexpr double most_work_ns = 64e6;

tree_traits draw(dice& d) {
  static constexpr std::array<double, 3> often{0, 0.5, 0.95};
  static constexpr std::array<unsigned, 4> children{2, 4, 8, 64};
  static constexpr std::array<double, 3> works{0, 0.3, 1};
  tree_traits t;
  t.leaves = static_cast<long>(d.log_uniform(64, 8193));
  t.leaf_ns = d.log_uniform(100, std::min(1e6, most_work_ns / static_cast<double>(t.leaves)));
  t.leaf_lengths = d.below(3);
  t.tail = d.log_uniform(0.5, 8);
  t.order = d.below(3);
  t.chained = d.happens(0.4) ? often[d.below(3)] : 0;
  t.leaf_first = d.happens(0.5);
  t.most_children = d.happens(0.5) ? 2 : children[d.below(4)];
  t.one_join = d.happens(0.5);
  t.before = works[d.below(3)];
  t.between = works[d.below(3)];
  t.after = works[d.below(3)];
  t.after_is = d.below(2);
  return t;
}

class drawing {
 public:
  explicit drawing(std::uint64_t seed) : dice_(seed), traits_(draw(dice_)) {}

  recorded all() {
    const node root = call(traits_.leaves);
    return to_.take(root);
  }

 private:
  void works(double leaves) { to_.works(ps(leaves * traits_.leaf_ns)); }

  double leaf() {
    if (traits_.leaf_lengths == 0) return 1;
    if (traits_.leaf_lengths == 1) return 2 * dice_.uniform();
    return std::min(dice_.pareto(1.5) / 3, 50.0);  // 3: the mean of that distribution
  }

  node call(long leaves) {
    to_.begin();
    if (leaves == 1) {
      works(leaf());
    } else {
      inner(leaves);
    }
    return to_.end();
  }

  void inner(long leaves) {
    const std::vector<long> parts = split(leaves);
    if (dice_.happens(traits_.before)) works(dice_.uniform());
    // The children in one to three groups, each with a join of its own: between the groups the node may work.
    const std::size_t groups = parts.size() > 2 ? std::min<std::size_t>(1 + dice_.below(3), parts.size() / 2) : 1;
    for (std::size_t i = 0; i != groups; ++i) {
      if (i > 0 && dice_.happens(traits_.between)) works(2 * dice_.uniform());
      fork_all(parts, parts.size() * i / groups, parts.size() * (i + 1) / groups);
    }
    if (!dice_.happens(traits_.after)) return;
    works(traits_.after_is == 0 ? 2 * dice_.uniform() : static_cast<double>(leaves) / 32);
  }

  // What several children do is recorded in the order of the serial program.
  void fork_all(const std::vector<long>& parts, std::size_t first, std::size_t last) {
    const node left = call(parts[first]);
    const node right = last - first == 2 ? call(parts[first + 1]) : rest(parts, first + 1, last);
    const auto iterations = static_cast<std::uint32_t>(last - first - 1);
    to_.forks(left, right, {}, traits_.one_join && traits_.most_children > 2 ? iterations : 0);
  }

  node rest(const std::vector<long>& parts, std::size_t first, std::size_t last) {
    to_.begin();
    fork_all(parts, first, last);
    return to_.end();
  }

  std::vector<long> split(long leaves) {
    if (dice_.happens(traits_.chained))
      return traits_.leaf_first ? std::vector<long>{1, leaves - 1} : std::vector<long>{leaves - 1, 1};
    const unsigned most = 2 + dice_.below(traits_.most_children - 1);
    const auto n = static_cast<std::size_t>(std::min<long>(most, leaves));
    std::vector<double> weights(n);
    double all = 0;
    for (double& weight : weights) all += weight = dice_.pareto(traits_.tail);
    if (traits_.order == 1) std::ranges::sort(weights, std::greater<>());
    if (traits_.order == 2) std::ranges::sort(weights);
    std::vector<long> parts(n, 1);
    long left = leaves - static_cast<long>(n);
    const long free = left;
    for (std::size_t i = 0; i != n; ++i) {
      const long more = std::min(left, static_cast<long>(static_cast<double>(free) * weights[i] / all));
      parts[i] += more;
      left -= more;
    }
    *std::ranges::max_element(parts) += left;  // what rounding has left
    return parts;
  }

  dice dice_;
  const tree_traits traits_;
  recorder to_;
};

}  // namespace

tree_traits draw_traits(std::uint64_t seed) {
  dice d(seed);
  return draw(d);
}

recorded draw_tree(std::uint64_t seed) { return drawing(seed).all(); }

}  // namespace simulate
